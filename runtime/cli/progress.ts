/** The part of a terminal's stream that is used. */
export interface Stream {
  readonly isTTY?: boolean;
  write(text: string): unknown;
}

/** Says what a command does if it takes longer than a moment. */
export interface Progress {
  /** The present step. It is shown once the command takes too long. */
  readonly step: (text: string) => void;
  readonly end: () => void;
}

const QUIET_MS = 2_000;
/** Clears the line that the cursor is in. */
const CLEAR = '\r\u001b[K';

/** Returns a progress line for a stream. A terminal shows one line. Anywhere else, a step is a line. */
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
