import type { ServerResponse } from 'node:http';

/** Writes a body in pieces, as fast as the client reads, and ends the response. Stops when the client has gone. Never rejects. */
export async function writePieces(res: ServerResponse, pieces: readonly Uint8Array[]): Promise<void> {
  for (const piece of pieces) {
    if (res.destroyed) return;
    if (!res.write(piece)) await drained(res);
  }
  res.end();
}

const drained = (res: ServerResponse): Promise<void> =>
  new Promise((resolve) => {
    const done = () => {
      res.off('drain', done).off('close', done);
      resolve();
    };
    res.on('drain', done).on('close', done);
  });
