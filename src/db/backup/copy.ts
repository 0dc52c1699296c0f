import { once } from 'node:events';
import type { Socket } from 'node:net';
import { Readable } from 'node:stream';
import type { Client, Submittable } from 'pg';

/** What of pg's connection COPY needs; its declared type has none of it. */
type Wire = {
  readonly stream: Socket;
  query(text: string): void;
  sendCopyFromChunk(chunk: Uint8Array): void;
  endCopyFrom(): void;
};

const BLOCK_BYTES = 64 * 1024;

/** The rows of `copy … to stdout` as they come, in blocks of whole lines; the server waits for the reader. */
export function copyOut(client: Client, sql: string): Readable {
  let wire: Wire | undefined;
  let gathered: Buffer[] = [];
  let bytes = 0;
  const rows = new Readable({
    highWaterMark: 4 * BLOCK_BYTES,
    read: () => void wire?.stream.resume(),
    destroy(error, done) {
      wire?.stream.resume();
      done(error);
    },
  });
  const flush = (): boolean => {
    const block = Buffer.concat(gathered);
    gathered = [];
    bytes = 0;
    return block.length === 0 || rows.push(block);
  };
  client.query({
    submit(connection: unknown) {
      wire = connection as Wire;
      wire.query(sql);
    },
    handleCopyData({ chunk }: { chunk: Buffer }) {
      // A copy, because pg goes on reading into the memory that the chunk is a part of.
      gathered.push(Buffer.from(chunk));
      bytes += chunk.length;
      if (bytes >= BLOCK_BYTES && !flush()) wire?.stream.pause();
    },
    handleCommandComplete() {},
    handleReadyForQuery() {
      flush();
      rows.push(null);
    },
    handleError: (error: Error) => void rows.destroy(error),
  } as Submittable);
  return rows;
}

/** A running `copy … from stdin`. */
export type CopyIn = {
  /** Resolves once there is room for more. */
  write(block: Uint8Array): Promise<void>;
  /** @returns how many rows came in */
  end(): Promise<number>;
};

/** Begins `copy … from stdin`. To give it up, the connection has to be ended. */
export async function copyIn(client: Client, sql: string): Promise<CopyIn> {
  const started = Promise.withResolvers<Wire>();
  const ended = Promise.withResolvers<number>();
  // Whoever writes or ends next is told.
  ended.promise.catch(() => undefined);
  let count = 0;
  client.query({
    submit: (connection: unknown) => (connection as Wire).query(sql),
    handleCopyInResponse: (connection: unknown) => started.resolve(connection as Wire),
    handleCommandComplete: ({ text }: { text: string }) => void (count = Number(/^COPY (\d+)$/.exec(text)?.[1])),
    handleReadyForQuery: () => ended.resolve(count),
    handleError(error: Error) {
      started.reject(error);
      ended.reject(error);
    },
  } as Submittable);

  const wire = await started.promise;
  return {
    async write(block) {
      wire.sendCopyFromChunk(block);
      if (!wire.stream.writableNeedDrain) return;
      const over = new AbortController();
      const drained = once(wire.stream, 'drain', { signal: over.signal }).catch(() => undefined);
      await Promise.race([drained, ended.promise]).finally(() => over.abort());
    },
    end() {
      wire.endCopyFrom();
      return ended.promise;
    },
  };
}
