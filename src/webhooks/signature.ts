import { createHmac, createPrivateKey, generateKeyPairSync, randomBytes, sign } from 'node:crypto';

// Signatures of Standard Webhooks 1.0.0 (https://www.standardwebhooks.com).

/** How an endpoint verifies: with a shared secret (`v1`), or with a public key (`v1a`, Ed25519). */
export const SIGNATURE_KINDS = ['hmac', 'ed25519'] as const;
export type SignatureKind = (typeof SIGNATURE_KINDS)[number];

const SHARED = 'whsec_';
const PRIVATE = 'whsk_';
const PUBLIC = 'whpk_';
const KEY_BYTES = 32;

/** Generates the secret that signs for an endpoint: `whsec_` with 32 random bytes, or `whsk_` with a key pair. */
export function generateSecret(kind: SignatureKind): string {
  if (kind === 'hmac') return SHARED + randomBytes(KEY_BYTES).toString('base64');
  const { d = '', x = '' } = generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' });
  return PRIVATE + Buffer.concat([Buffer.from(d, 'base64url'), Buffer.from(x, 'base64url')]).toString('base64');
}

export const signatureKind = (secret: string): SignatureKind => (secret.startsWith(PRIVATE) ? 'ed25519' : 'hmac');

/** Returns the public key of a `whsk_` secret as `whpk_`; null for a shared secret. */
export function publicKeyOf(secret: string): string | null {
  if (signatureKind(secret) === 'hmac') return null;
  return PUBLIC + decode(secret, PRIVATE).subarray(KEY_BYTES).toString('base64');
}

/**
 * Returns the headers of one attempt. The id is that of the message and stays the same over all attempts; a signature
 * covers id, time and body.
 * @param secrets the endpoint's secret and, during a rotation, the previous one
 */
export function signatureHeaders(secrets: readonly string[], id: string, at: Date, body: string) {
  const timestamp = String(Math.floor(at.getTime() / 1000));
  const content = `${id}.${timestamp}.${body}`;
  return {
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': secrets.map((secret) => signText(secret, content)).join(' '),
  };
}

function signText(secret: string, content: string): string {
  if (signatureKind(secret) === 'hmac')
    return `v1,${createHmac('sha256', decode(secret, SHARED)).update(content).digest('base64')}`;
  const bytes = decode(secret, PRIVATE);
  const d = bytes.subarray(0, KEY_BYTES).toString('base64url');
  const x = bytes.subarray(KEY_BYTES).toString('base64url');
  const key = createPrivateKey({ key: { kty: 'OKP', crv: 'Ed25519', d, x }, format: 'jwk' });
  return `v1a,${sign(null, Buffer.from(content), key).toString('base64')}`;
}

const decode = (secret: string, prefix: string): Buffer => Buffer.from(secret.slice(prefix.length), 'base64');
