import { createPublicKey, verify } from 'node:crypto';
import { Webhook as StandardWebhook } from 'standardwebhooks';
import { describe, expect, test } from 'vitest';
import { generateSecret, publicKeyOf } from '../../src/crypto/webhook-secret.ts';
import { signatureHeaders } from '../../src/webhooks/signature.ts';
import { describeVerifier } from './verifier-tests.ts';

const ID = 'evt_1';
const BODY = '{"type":"member.added","data":{"name":"Zoë 🦉"}}';

describeVerifier('standardwebhooks', (secret) => new StandardWebhook(secret));

describe('a public key', () => {
  const keyOf = (secret: string) =>
    createPublicKey({
      key: {
        kty: 'OKP',
        crv: 'Ed25519',
        x: Buffer.from(publicKeyOf(secret)?.replace('whpk_', '') ?? '', 'base64').toString('base64url'),
      },
      format: 'jwk',
    });
  const isSigned = (secret: string, { ...headers }: Record<string, string>, body: string): boolean => {
    const signature = headers['webhook-signature']?.replace('v1a,', '') ?? '';
    const content = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`;
    return verify(null, Buffer.from(content), keyOf(secret), Buffer.from(signature, 'base64'));
  };

  test('verifies the webhooks of its endpoint, and no others', () => {
    const [secret, other] = [generateSecret('ed25519'), generateSecret('ed25519')];
    const headers = signatureHeaders([secret], ID, new Date(), BODY);

    expect(headers['webhook-signature']).toMatch(/^v1a,[\w+/]{86}==$/);
    expect(isSigned(secret, headers, BODY)).toBe(true);
    expect(isSigned(secret, headers, `${BODY} `)).toBe(false);
    expect(isSigned(other, headers, BODY)).toBe(false);
  });

  test('does not exist for a shared secret, which has 32 random bytes', () => {
    const secret = generateSecret('hmac');

    expect(publicKeyOf(secret)).toBeNull();
    expect(Buffer.from(secret.replace('whsec_', ''), 'base64')).toHaveLength(32);
    expect(generateSecret('hmac')).not.toBe(secret);
  });
});
