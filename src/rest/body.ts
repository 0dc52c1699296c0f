import type { IncomingMessage } from 'node:http';
import { invalidInput, ProblemError } from '../errors.ts';

const MAX_BYTES = 100 * 1024;

const JSON_TYPE = /^application\/json[ \t]*(?:;|$)/i;
const CHARSET = /;[ \t]*charset[ \t]*=[ \t]*"?([^";\s]+)"?/i;
const utf8 = new TextDecoder('utf-8', { fatal: true });

/** Reads a JSON body of at most 100 KiB. */
export async function readJson(req: IncomingMessage): Promise<unknown> {
  const { headers } = req;
  if (!hasBody(req)) throw missingBody();
  requireJson(headers['content-type']);
  if ((headers['content-encoding'] ?? 'identity').toLowerCase() !== 'identity') {
    throw new ProblemError(
      'unsupported_media_type',
      'Content codings are not accepted. Send the body without compression.',
    );
  }
  if (Number(headers['content-length'] ?? 0) > MAX_BYTES) throw tooLarge();

  const bytes = await collect(req);
  if (bytes.length === 0) throw missingBody();
  try {
    return JSON.parse(utf8.decode(bytes)) as unknown;
  } catch {
    throw new ProblemError('malformed_json');
  }
}

const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;

function requireJson(contentType: string | undefined): void {
  const charset = CHARSET.exec(contentType ?? '')?.[1]?.toLowerCase() ?? 'utf-8';
  if (contentType === undefined || !JSON_TYPE.test(contentType) || (charset !== 'utf-8' && charset !== 'utf8')) {
    throw new ProblemError('unsupported_media_type', 'The body must be application/json in UTF-8.');
  }
}

async function collect(req: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of req.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      // no encoding is set, so chunks are buffers
      size += chunk.length;
      if (size > MAX_BYTES) break;
      chunks.push(chunk);
    }
  } catch {
    // The client disconnected. The error is for the log only, where it must not look like an internal one.
    throw new ProblemError('malformed_request', 'The body ended early.');
  }
  if (size > MAX_BYTES) {
    // Discards the rest, which would otherwise precede the next request on the connection.
    req.resume();
    throw tooLarge();
  }
  return chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks, size);
}

const tooLarge = () => new ProblemError('body_too_large', `The body is larger than ${MAX_BYTES} bytes.`);

const missingBody = () => invalidInput('', 'A JSON body is required.', 'required');
