import { constants, unzipSync } from 'node:zlib';
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
function decompress(body: Buffer, encoding: string | undefined): Buffer {
  if (!/^(?:(?:x-)?gzip|deflate)$/i.test(encoding ?? '')) return body;
  try {
    // The end is missing.
    return unzipSync(body, { finishFlush: constants.Z_SYNC_FLUSH }).subarray(0, ANSWER_BYTES_MAX);
  } catch {
    return body;
  }
}
