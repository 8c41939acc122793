const newline = 0x0a;

/** Takes bytes as they come and gives whole lines. */
export interface LineSplitter {
  push(chunk: Buffer): void;
}

/**
 * Splits a stream of bytes into lines of text, without the newline; empty lines are left out. Parts of an unfinished line
 * are kept as they came and joined once, so that a line of many chunks costs its length and not its square, and a
 * character that two chunks share stays whole.
 */
export function lineSplitter(onLine: (line: string) => void): LineSplitter {
  let parts: Buffer[] = [];
  const finish = (last: Buffer): void => {
    const line = parts.length === 0 ? last : Buffer.concat([...parts, last]);
    parts = [];
    if (line.length > 0) onLine(line.toString('utf8'));
  };
  return {
    push(chunk) {
      let start = 0;
      for (let end = chunk.indexOf(newline); end !== -1; end = chunk.indexOf(newline, start)) {
        finish(chunk.subarray(start, end));
        start = end + 1;
      }
      if (start < chunk.length) parts.push(chunk.subarray(start));
    },
  };
}
