import type { IncomingMessage } from 'node:http';
import { SECOND_MS } from '../time.ts';

const PIECE_BYTES = 4096;
/** After this time a shorter piece is passed on with the next chunk, so that slow uploads are seen to go on. */
const PIECE_MS = SECOND_MS;

/**
 * Lets the body of a request arrive in pieces of about 4 KiB or more. A client can send each byte in a chunk of its own
 * (RFC 9112, section 7.1), and until the body is complete, each chunk would be an object: 100 KB took 50 MB.
 */
export function coalesceBody(req: IncomingMessage): void {
  const { 'content-length': length, 'transfer-encoding': coding } = req.headers;
  if (length === undefined && coding === undefined) return;
  // No class of its own, because Express replaces the prototype of requests.
  const passOn = req.push.bind(req);
  let piece: Buffer | undefined;
  let bytes = 0;
  let since = 0;

  const pass = (): boolean => {
    const full = piece?.subarray(0, bytes);
    piece = undefined;
    bytes = 0;
    return full === undefined || passOn(full);
  };

  req.push = (chunk: Buffer | null) => {
    if (chunk === null || chunk.length >= PIECE_BYTES) {
      pass();
      return passOn(chunk);
    }
    const isFull = bytes + chunk.length > PIECE_BYTES;
    const wantsMore = isFull || performance.now() - since > PIECE_MS ? pass() : true;
    if (piece === undefined) {
      // Nearly always the whole body, which is not copied.
      piece = chunk;
      since = performance.now();
    } else {
      if (piece.length < PIECE_BYTES) piece = Buffer.concat([piece], PIECE_BYTES);
      chunk.copy(piece, bytes);
    }
    bytes += chunk.length;
    return wantsMore;
  };
}
