import type { IncomingMessage } from 'node:http';
import { invalidInput, ProblemError } from '../problems/error.ts';
import { allowLongRequest } from '../http/parser-errors.ts';
import type { Upload } from '../procedures/meta.ts';
import { MINUTE_MS, SECOND_MS } from '../time.ts';
import { hasBody, requireIdentity, tooLarge } from './body.ts';

/** How long the body can make no progress, and take in total. Then the connection is closed. */
const STALL_MS = 30 * SECOND_MS;
const TOTAL_MS = 10 * MINUTE_MS;

/** Reads a long body while it arrives. Nothing is read before the first chunk is asked for. */
export async function* readUpload(req: IncomingMessage, { type, maxBytes }: Upload): AsyncGenerator<Buffer> {
  if (!hasBody(req)) throw invalidInput('', `A body of the type ${type} is required.`, 'required');
  const [given = ''] = (req.headers['content-type'] ?? '').split(';');
  if (given.trim().toLowerCase() !== type)
    throw new ProblemError('unsupported_media_type', `The body must be ${type} in UTF-8.`);
  requireIdentity(req);
  if (Number(req.headers['content-length'] ?? 0) > maxBytes) throw tooLarge(maxBytes);

  const end = () => void req.destroy();
  const [stalled, total] = [setTimeout(end, STALL_MS), setTimeout(end, TOTAL_MS)];
  const endLongRequest = allowLongRequest(req.socket);
  let size = 0;
  try {
    for await (const chunk of req.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      // no encoding is set, so chunks are buffers
      size += chunk.length;
      if (size > maxBytes) throw tooLarge(maxBytes);
      stalled.refresh();
      yield chunk;
      stalled.refresh();
    }
  } catch (error) {
    // The client disconnected, or was too slow. The error is for the log only, where it must not look like an internal one.
    throw error instanceof ProblemError ? error : new ProblemError('malformed_request', 'The body ended early.');
  } finally {
    clearTimeout(stalled);
    clearTimeout(total);
    endLongRequest();
    // Discards the rest, which would otherwise precede the next request on the connection, for a while.
    if (!req.readableEnded) {
      const rest = setTimeout(end, STALL_MS).unref();
      req.once('close', () => clearTimeout(rest)).resume();
    }
  }
}
