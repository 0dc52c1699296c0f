import { describe, expect, test } from 'vitest';
import { generateSecret } from '../../src/crypto/webhook-secret.ts';
import { signatureHeaders } from '../../src/webhooks/signature.ts';

const ID = 'evt_1';
const BODY = '{"type":"member.added","data":{"name":"Zoë 🦉"}}';

type Verifier = { verify(body: string, headers: Record<string, string>): unknown };

/** Tests that a verifier that others wrote, which throws unless a signature is right, accepts our webhooks alone. */
export const describeVerifier = (name: string, open: (secret: string) => Verifier) =>
  describe(`${name} as verifier`, () => {
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
