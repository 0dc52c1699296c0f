import { generateKeyPairSync, randomBytes } from 'node:crypto';

// Secrets of Standard Webhooks 1.0.0 (https://www.standardwebhooks.com).

/** How an endpoint verifies: with a shared secret (`v1`), or with a public key (`v1a`, Ed25519). */
export const SIGNATURE_KINDS = ['hmac', 'ed25519'] as const;
export type SignatureKind = (typeof SIGNATURE_KINDS)[number];

const SHARED = 'whsec_';
const PRIVATE = 'whsk_';
const PUBLIC = 'whpk_';
export const KEY_BYTES = 32;

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
  return PUBLIC + decodeSecret(secret).subarray(KEY_BYTES).toString('base64');
}

/** Returns the bytes of a secret without its prefix. */
export const decodeSecret = (secret: string): Buffer => Buffer.from(secret.slice(secret.indexOf('_') + 1), 'base64');
