import { createHmac, createPrivateKey, sign } from 'node:crypto';
import { decodeSecret, KEY_BYTES, signatureKind } from '../crypto/webhook-secret.ts';

// Signatures of Standard Webhooks 1.0.0 (https://www.standardwebhooks.com).

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
    return `v1,${createHmac('sha256', decodeSecret(secret)).update(content).digest('base64')}`;
  const bytes = decodeSecret(secret);
  const d = bytes.subarray(0, KEY_BYTES).toString('base64url');
  const x = bytes.subarray(KEY_BYTES).toString('base64url');
  const key = createPrivateKey({ key: { kty: 'OKP', crv: 'Ed25519', d, x }, format: 'jwk' });
  return `v1a,${sign(null, Buffer.from(content), key).toString('base64')}`;
}
