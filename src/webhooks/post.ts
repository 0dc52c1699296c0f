import { constants, inflateRawSync, unzipSync } from 'node:zlib';
import type { Network } from '../outbound/network.ts';
import { sendOutbound, type OutboundResponse } from '../outbound/request.ts';
import { SECOND_MS } from '../time.ts';

export const POST_TIMEOUT_MS = 15 * SECOND_MS;
/** How much of an answer is read and kept. More would let an endpoint read other services through its log. */
const ANSWER_BYTES_MAX = 1024;

/** What a receiver answered. */
export type WebhookAnswer = {
  readonly status: number;
  /** The first KB, as text. */
  readonly body: string;
  readonly retryAfter: string | undefined;
};

/**
 * Posts a signed webhook to its endpoint, with the rules of `sendOutbound`.
 * @throws an error with one line if there was no answer within 15 seconds
 */
export const postWebhook = async (
  url: string | URL,
  headers: Readonly<Record<string, string>>,
  body: string,
  network: Network,
  signal?: AbortSignal,
): Promise<WebhookAnswer> =>
  sendOutbound(
    new URL(url),
    {
      method: 'POST',
      headers: {
        ...headers,
        'content-type': 'application/json',
        'user-agent': 'Roster-Webhooks/1.0',
        accept: '*/*',
        'accept-encoding': 'identity',
      },
      body,
      timeoutMs: POST_TIMEOUT_MS,
      signal,
      read: readAnswer,
    },
    network,
  );

async function readAnswer(res: OutboundResponse): Promise<WebhookAnswer> {
  const status = res.statusCode ?? 0;
  return { status, body: await readStart(res), retryAfter: res.headers['retry-after'] };
}

/** Reads the first bytes. The status is the answer, so a body that breaks off or never ends is no failure. */
async function readStart(res: OutboundResponse): Promise<string> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  try {
    for await (const chunk of res.readBody()) {
      chunks.push(chunk.subarray(0, ANSWER_BYTES_MAX - length));
      length += chunk.length;
      if (length >= ANSWER_BYTES_MAX) break;
    }
  } catch {
    // The part that arrived is kept.
  }
  const body = decompress(Buffer.concat(chunks), res.headers['content-encoding']);
  // PostgreSQL stores no U+0000.
  return body.toString('utf8').replaceAll('\u0000', '\uFFFD');
}

/** Some receivers compress although that was not accepted. 1 KB of gzip is at most 1 MB before it is cut. */
function decompress(body: Buffer, encoding = ''): Buffer {
  if (!/^(?:(?:x-)?gzip|deflate)$/i.test(encoding)) return body;
  const decoders = [unzip, unzipFirst, ...(/^deflate$/i.test(encoding) ? [inflateRaw] : [])];
  for (const decode of decoders) {
    try {
      return decode(body).subarray(0, ANSWER_BYTES_MAX);
    } catch {
      // It is in another encoding.
    }
  }
  return body;
}

// The end is missing.
const CUT = { finishFlush: constants.Z_SYNC_FLUSH };
const unzip = (body: Buffer): Buffer => unzipSync(body, CUT);

/** Decodes gzip (RFC 1952, section 2.3) without what follows its first member, such as a line end. */
function unzipFirst(body: Buffer): Buffer {
  const flags = body.readUInt32BE(0) ^ 0x1f8b0800;
  if (flags < 0 || flags > 0x1f) throw new Error('no gzip');
  let at = 10;
  if (flags & 4) at += 2 + body.readUInt16LE(at);
  for (const text of [8, 16]) if (flags & text) at = body.indexOf(0, at) + 1;
  if (flags & 2) at += 2;
  return inflateRawSync(body.subarray(at), CUT);
}

/** Decodes deflate without a zlib header. Short texts can look like its beginning, so all that came has to be of it. */
function inflateRaw(body: Buffer): Buffer {
  if (body.length >= ANSWER_BYTES_MAX) return inflateRawSync(body, CUT);
  const { buffer, engine } = inflateRawSync(body, { info: true }) as unknown as Decoded;
  if (engine.bytesWritten < body.length) throw new Error('no deflate');
  return buffer;
}

/** What zlib returns with `info`, which its types leave out. */
type Decoded = { readonly buffer: Buffer; readonly engine: { readonly bytesWritten: number } };
