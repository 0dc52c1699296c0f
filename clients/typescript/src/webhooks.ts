import type { RosterEvent } from './generated/events.ts';
import { readHeader, type IncomingHeaders } from './headers.ts';

/** The body of a webhook: the event, with its time as `timestamp` too. A test has the type `webhook.test`. */
export type WebhookEvent = Omit<RosterEvent, 'type'> & {
  readonly type: RosterEvent['type'] | 'webhook.test' | (string & {});
  readonly timestamp: string;
};

/** A webhook that is not signed with the secret, is too old, or lacks a header. Answer with the status 401. */
export class WebhookVerificationError extends Error {
  override readonly name = 'WebhookVerificationError';
}

/** The webhook as it arrived. */
export type ReceivedWebhook = {
  /** The bytes of the body, before anything has parsed them. */
  readonly body: string | Uint8Array;
  readonly headers: IncomingHeaders;
};

const TOLERANCE_SECONDS = 300;

/**
 * Verifies a webhook (Standard Webhooks, HMAC-SHA256) and returns its event. The header `webhook-id` is the id to
 * handle each event once by.
 * @param secrets the secret of the endpoint (`whsec_…`); several if you receive for several endpoints
 * @throws WebhookVerificationError
 */
export async function verifyWebhook(
  { body, headers }: ReceivedWebhook,
  secrets: string | readonly string[],
  { now = Date.now, toleranceSeconds = TOLERANCE_SECONDS }: { now?: () => number; toleranceSeconds?: number } = {},
): Promise<WebhookEvent> {
  const [id, timestamp, signatures] = ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map((name) =>
    requireHeader(headers, name),
  ) as [string, string, string]; // of three names
  if (!/^\d{1,15}$/.test(timestamp) || Math.abs(now() / 1000 - Number(timestamp)) > toleranceSeconds)
    throw new WebhookVerificationError('The timestamp is missing, too old or too new.');

  const bytes = typeof body === 'string' ? new TextEncoder().encode(body) : body;
  const signed = concat(new TextEncoder().encode(`${id}.${timestamp}.`), bytes);
  const candidates = signatures.split(' ').filter((signature) => signature.startsWith('v1,'));
  for (const secret of typeof secrets === 'string' ? [secrets] : secrets) {
    const key = await importKey(secret);
    for (const candidate of candidates) {
      const signature = decode(candidate.slice('v1,'.length));
      // Compares in constant time.
      if (signature !== null && (await crypto.subtle.verify('HMAC', key, signature, signed)))
        return JSON.parse(new TextDecoder().decode(bytes)) as WebhookEvent; // what the service signed
    }
  }
  throw new WebhookVerificationError('No signature matches.');
}

function requireHeader(headers: IncomingHeaders, name: string): string {
  const value = readHeader(headers, name);
  if (value === undefined || value === '') throw new WebhookVerificationError(`The header ${name} is missing.`);
  return value;
}

/** @throws TypeError if the secret is not one of a webhook endpoint */
function importKey(secret: string) {
  const bytes = secret.startsWith('whsec_') ? decode(secret.slice('whsec_'.length)) : null;
  if (bytes === null || bytes.length === 0) throw new TypeError('A secret of a webhook endpoint starts with whsec_.');
  return crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, ['verify']);
}

function decode(base64: string): Uint8Array<ArrayBuffer> | null {
  try {
    return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  } catch {
    return null;
  }
}

function concat(one: Uint8Array, other: Uint8Array): Uint8Array<ArrayBuffer> {
  const joined = new Uint8Array(one.length + other.length);
  joined.set(one);
  joined.set(other, one.length);
  return joined;
}
