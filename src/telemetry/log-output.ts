import type { Writable } from 'node:stream';
import type { DestinationStream } from 'pino';

/** The bound of lines that wait for a slow reader: a few thousand. */
const MAX_WAITING_BYTES = 1024 * 1024;

/** The time that a clean shutdown waits for the reader. */
const CLOSE_MS = 1000;

export type LogOutput = DestinationStream & {
  /** Returns the number of lines dropped since startup. */
  readonly dropped: () => number;
  /** Writes the waiting lines, as far as the reader accepts them. Never rejects. */
  close(): Promise<void>;
};

/**
 * Writes log lines to a stream and never waits for its reader. Lines beyond a bounded buffer are dropped;
 * the next line that is written contains their number as `droppedLines`.
 */
export function createLogOutput(stream: Writable): LogOutput {
  let pending: string[] = [];
  let pendingBytes = 0;
  let dropped = 0;
  let reported = 0;
  // A closed reader must not end the service.
  stream.on('error', () => undefined);

  const flush = () => {
    const lines = pending;
    [pending, pendingBytes] = [[], 0];
    if (lines.length > 0 && stream.writable) stream.write(lines.join(''));
  };
  process.once('exit', flush);

  return {
    dropped: () => dropped,
    write(line) {
      if (!stream.writable || stream.writableLength + pendingBytes + line.length > MAX_WAITING_BYTES) {
        dropped += 1;
        return;
      }
      // All lines of one turn of the event loop are sent in one write.
      if (pending.length === 0) setImmediate(flush);
      pending.push(reported === dropped ? line : withDropped(line, dropped - reported));
      pendingBytes += line.length;
      reported = dropped;
    },
    async close() {
      flush();
      if (!stream.writable) return;
      const written = new Promise<void>((resolve) => stream.write('', () => resolve()));
      const timeout = new Promise<void>((resolve) => setTimeout(resolve, CLOSE_MS).unref());
      await Promise.race([written, timeout]);
    },
  };
}

/** Adds a member to a line, which is a JSON object. */
const withDropped = (line: string, count: number): string =>
  `${line.trimEnd().slice(0, -1)},"droppedLines":${count}}\n`;
