import type { Shell } from './shell.ts';

const QUIET_MS = 2_000;
const CLEAR = '\r\u001b[K';

/** Shows the step of a slow command on one line of a terminal, until the first result. */
export function progressOn({ stderr, note, write }: Shell, quietMs = QUIET_MS) {
  let current = '';
  let isShown = false;
  const show = () => {
    isShown = true;
    if (current !== '') stderr.write(`${CLEAR}${current} …`);
  };
  const clear = () => isShown && stderr.write(CLEAR);
  const timer = stderr.isTTY === true ? setTimeout(show, quietMs).unref() : undefined;
  const end = () => {
    clearTimeout(timer);
    clear();
    isShown = false;
  };
  return {
    step: (text: string) => {
      current = text;
      if (isShown) show();
    },
    end,
    write: (text: string) => {
      end();
      write(text);
    },
    note: (text: string) => {
      clear();
      note(text);
      if (isShown) show();
    },
  };
}
