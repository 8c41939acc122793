import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import type { AuditEntry } from '../testing/audit.ts';

/** An entry with the bodies that the policy asks for. */
export interface AuditRecord extends AuditEntry {
  readonly stageTimestamp: string;
  readonly requestObject?: unknown;
  readonly responseObject?: unknown;
}

const CHUNK = 1 << 20;
const NEWLINE = 10;

/** Reads what was added to an audit log since the last reading, entry by entry; an entry half written waits for the next. */
export class AuditTail {
  private offset = 0;

  constructor(private readonly file: string) {}

  read(onRecord: (record: AuditRecord) => void): void {
    const file = openSync(this.file, 'r');
    try {
      const { size } = fstatSync(file);
      let rest: Buffer = Buffer.alloc(0);
      for (let at = this.offset; at < size;) {
        const chunk = Buffer.alloc(Math.min(CHUNK, size - at));
        at += readSync(file, chunk, 0, chunk.length, at);
        rest = this.take(Buffer.concat([rest, chunk]), onRecord);
      }
    } finally {
      closeSync(file);
    }
  }

  /** Hands over every whole line; returns what is left. */
  private take(text: Buffer, onRecord: (record: AuditRecord) => void): Buffer {
    let start = 0;
    for (let end = text.indexOf(NEWLINE); end !== -1; end = text.indexOf(NEWLINE, start)) {
      onRecord(JSON.parse(text.toString('utf8', start, end)) as AuditRecord);
      this.offset += end + 1 - start;
      start = end + 1;
    }
    return text.subarray(start);
  }
}
