import type { IncomingMessage } from 'node:http';
import { invalidInput, ProblemError } from '../problems/error.ts';
import { parseExactJson } from '../exact-json.ts';

const JSON_BYTES_MAX = 100 * 1024;

const JSON_TYPE = /^application\/json[ \t]*(?:;|$)/i;
export const MERGE_PATCH = 'application/merge-patch+json';
const PATCH_TYPE = /^application\/(?:merge-patch\+)?json[ \t]*(?:;|$)/i;
const CHARSET = /;[ \t]*charset[ \t]*=[ \t]*"?([^";\s]+)"?/i;
const utf8 = new TextDecoder('utf-8', { fatal: true });

/** Reads a JSON body of at most 100 KiB, or of what its operation takes. */
export const readJson = async (req: IncomingMessage, maxBytes?: number): Promise<unknown> =>
  parseJson(await readBytes(req, maxBytes));

/** Reads a JSON merge patch (RFC 7396) like `readJson`, also under its own media type. See `parseExactJson`. */
export const readMergePatch = async (req: IncomingMessage): Promise<unknown> =>
  parseJson(await readBytes(req, JSON_BYTES_MAX, PATCH_TYPE), parseExactJson);

/** @throws malformed_json without a part of the body, which can be a secret */
export function parseJson(bytes: Buffer, parse: (text: string) => unknown = JSON.parse): unknown {
  try {
    return parse(utf8.decode(bytes));
  } catch {
    throw new ProblemError('malformed_json');
  }
}

/** Reads the bytes of a JSON body. */
export async function readBytes(req: IncomingMessage, maxBytes = JSON_BYTES_MAX, type = JSON_TYPE): Promise<Buffer> {
  if (!hasBody(req)) throw missingBody();
  requireJson(req.headers['content-type'], type);
  const bytes = await readUncompressed(req, maxBytes);
  if (bytes.length === 0) throw missingBody();
  return bytes;
}

/** Reads the bytes of a body of any type. */
export async function readUncompressed(req: IncomingMessage, maxBytes: number): Promise<Buffer> {
  requireIdentity(req);
  if (Number(req.headers['content-length'] ?? 0) > maxBytes) throw tooLarge(maxBytes);

  return collect(req, maxBytes);
}

export const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;

/** Requires a body without a content coding. */
export function requireIdentity({ headers }: IncomingMessage): void {
  if ((headers['content-encoding'] ?? 'identity').toLowerCase() === 'identity') return;
  throw new ProblemError(
    'unsupported_media_type',
    'Content codings are not accepted. Send the body without compression.',
  );
}

function requireJson(contentType: string | undefined, type: RegExp): void {
  const charset = CHARSET.exec(contentType ?? '')?.[1]?.toLowerCase() ?? 'utf-8';
  if (contentType === undefined || !type.test(contentType) || (charset !== 'utf-8' && charset !== 'utf8')) {
    throw new ProblemError('unsupported_media_type', 'The body must be application/json in UTF-8.');
  }
}

/** Collects the bytes by events, because an iterator of the stream costs a short body more than reading it. */
function collect(req: IncomingMessage, maxBytes: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    // no encoding is set, so chunks are buffers
    const onData = (chunk: Buffer): void => {
      size += chunk.length;
      if (size <= maxBytes) {
        chunks.push(chunk);
        return;
      }
      // The stream goes on and discards the rest, which would otherwise precede the next request on the connection.
      req.off('data', onData);
      req.resume();
      reject(tooLarge(maxBytes));
    };
    const onEnd = (): void =>
      resolve(chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks, size));
    // The client disconnected. The error is for the log only, where it must not look like an internal one.
    const onGone = (): void => reject(new ProblemError('malformed_request', 'The body ended early.'));
    req.on('data', onData).once('end', onEnd).once('error', onGone);
    if (req.errored !== null || req.destroyed) onGone();
  });
}

export const tooLarge = (maxBytes: number) =>
  new ProblemError('body_too_large', `The body is larger than ${maxBytes} bytes.`);

const missingBody = () => invalidInput('', 'A JSON body is required.', 'required');
