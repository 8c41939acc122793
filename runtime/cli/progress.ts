export interface Stream {
  readonly isTTY?: boolean;
  write(text: string): unknown;
}

export interface Progress {
  /** The step is shown only if the command takes too long. */
  readonly step: (text: string) => void;
  readonly end: () => void;
}

const QUIET_MS = 2_000;
const CLEAR = '\r\u001b[K';

/** A terminal shows one line. Elsewhere, each step is a line. */
export function progressOn(stream: Stream, quietMs = QUIET_MS): Progress {
  const isTerminal = stream.isTTY === true;
  let current = '';
  let isShown = false;
  const show = () => {
    isShown = true;
    if (current !== '') stream.write(isTerminal ? `${CLEAR}${current} …` : `${current} …\n`);
  };
  const timer = setTimeout(show, quietMs);
  timer.unref();
  return {
    step: (text) => {
      current = text;
      if (isShown) show();
    },
    end: () => {
      clearTimeout(timer);
      if (isShown && isTerminal) stream.write(CLEAR);
      isShown = false;
    },
  };
}
