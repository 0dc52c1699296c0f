import { createPublicKey, verify } from 'node:crypto';
import { Webhook as StandardWebhook } from 'standardwebhooks';
import { Webhook as SvixWebhook } from 'svix';
import { describe, expect, test } from 'vitest';
import { generateSecret, publicKeyOf } from '../../src/crypto/webhook-secret.ts';
import { signatureHeaders } from '../../src/webhooks/signature.ts';

const ID = 'evt_1';
const BODY = '{"type":"member.added","data":{"name":"Zoë 🦉"}}';

/** Verifiers that others wrote: they throw unless one of the signatures is right. */
const VERIFIERS = [
  ['standardwebhooks', (secret: string) => new StandardWebhook(secret)],
  ['svix', (secret: string) => new SvixWebhook(secret)],
] as const;

describe.each(VERIFIERS)('%s', (_name, open) => {
  const check = (secret: string, headers: Record<string, string>, body = BODY) =>
    void open(secret).verify(body, headers);

  test('accepts a webhook that is signed with the shared secret', () => {
    const secret = generateSecret('hmac');

    expect(() => check(secret, signatureHeaders([secret], ID, new Date(), BODY))).not.toThrow();
  });

  test('accepts the old and the new secret during a rotation', () => {
    const [present, previous] = [generateSecret('hmac'), generateSecret('hmac')];
    const headers = signatureHeaders([present, previous], ID, new Date(), BODY);

    expect(() => check(present, headers)).not.toThrow();
    expect(() => check(previous, headers)).not.toThrow();
  });

  test('accepts the shared secret beside a public key', () => {
    const secret = generateSecret('hmac');

    const headers = signatureHeaders([generateSecret('ed25519'), secret], ID, new Date(), BODY);
    expect(() => check(secret, headers)).not.toThrow();
  });

  test.each([
    ['another secret', (headers: Record<string, string>) => [generateSecret('hmac'), headers, BODY] as const],
    ['another body', (headers: Record<string, string>, secret: string) => [secret, headers, `${BODY} `] as const],
    [
      'another id',
      (headers: Record<string, string>, secret: string) =>
        [secret, { ...headers, 'webhook-id': 'evt_2' }, BODY] as const,
    ],
  ])('refuses %s', (_what, change) => {
    const secret = generateSecret('hmac');

    const [key, headers, body] = change(signatureHeaders([secret], ID, new Date(), BODY), secret);
    expect(() => check(key, headers, body)).toThrow(/No matching signature/);
  });

  test('rejects a webhook of six minutes ago', () => {
    const secret = generateSecret('hmac');
    const headers = signatureHeaders([secret], ID, new Date(Date.now() - 6 * 60_000), BODY);

    expect(() => check(secret, headers)).toThrow(/too old/);
  });
});

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
