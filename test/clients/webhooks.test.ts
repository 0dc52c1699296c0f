import { describe, expect, test } from 'vitest';
import { verifyWebhook, WebhookVerificationError } from '../../clients/typescript/src/index.ts';
import { generateSecret } from '../../src/crypto/webhook-secret.ts';
import { signatureHeaders } from '../../src/webhooks/signature.ts';

const BODY = '{"type":"member.added","data":{"name":"Zoë 🦉"}}';
const secret = generateSecret('hmac');
const signed = (secrets = [secret], at = new Date()) => signatureHeaders(secrets, 'evt_1', at, BODY);

describe('verifyWebhook', () => {
  test.each([
    ['the headers of Node.js', signed()],
    ['the headers of fetch', new Headers(signed())],
    ['header names in capitals', Object.fromEntries(Object.entries(signed()).map(([k, v]) => [k.toUpperCase(), v]))],
    ['the secrets of a rotation', signed([generateSecret('hmac'), secret])],
    ['a signature with a public key beside', signed([generateSecret('ed25519'), secret])],
  ])('accepts %s', async (_what, headers) => {
    expect(await verifyWebhook({ body: BODY, headers }, secret)).toMatchObject({ type: 'member.added' });
    const body = new TextEncoder().encode(BODY);
    expect(await verifyWebhook({ body, headers }, [generateSecret('hmac'), secret])).toMatchObject({
      data: { name: 'Zoë 🦉' },
    });
  });

  test.each([
    ['another secret', { headers: signed([generateSecret('hmac')]) }],
    ['another body', { body: BODY.replace('added', 'removed') }],
    ['another id', { headers: { ...signed(), 'webhook-id': 'evt_2' } }],
    ['no signature', { headers: { ...signed(), 'webhook-signature': '' } }],
    ['no id', { headers: { ...signed(), 'webhook-id': undefined } }],
    ['a signature that is no Base64', { headers: { ...signed(), 'webhook-signature': 'v1,%%%' } }],
    ['an empty signature', { headers: { ...signed(), 'webhook-signature': 'v1,' } }],
    ['a signature of another version alone', { headers: signed([generateSecret('ed25519')]) }],
    ['a time that is too old', { headers: signed([secret], new Date(Date.now() - 301_000)) }],
    ['a time that is too new', { headers: signed([secret], new Date(Date.now() + 3_600_000)) }],
    ['a time that is no number', { headers: { ...signed(), 'webhook-timestamp': 'NaN' } }],
  ])('rejects %s', async (_what, change) => {
    const webhook = { body: BODY, headers: signed(), ...change };
    await expect(verifyWebhook(webhook, secret)).rejects.toBeInstanceOf(WebhookVerificationError);
  });

  test('names a secret that is none, instead of rejecting every webhook', async () => {
    for (const wrong of ['', 'whsec_', secret.slice('whsec_'.length), 'rst_pk_x'])
      await expect(verifyWebhook({ body: BODY, headers: signed() }, wrong)).rejects.toBeInstanceOf(TypeError);
  });
});
