import { describe, expect } from 'vitest';
import { OPERATOR_SCOPES, SCOPES } from '../../src/entities/index.ts';
import type { Meta } from '../../src/procedures/meta.ts';
import { appRouter } from '../../src/router.ts';
import type { Answer, Sent } from '../support/client.ts';
import { testWith, startApi, type Api } from '../support/api.ts';
import { OPERATIONS as REST_OPERATIONS } from '../rest/operations.ts';
import { aRequest, OPERATIONS } from './operations.ts';

const test = testWith(() => startApi({ TRUST_PROXY: '1' }));

const outcome = ({ status, body }: Answer): string => `${status} ${body.code}`;
const INVALID = '401 credential_invalid';

/** Every credential that is not a valid operator key. */
async function strangers(api: Api): Promise<Record<string, string>> {
  const account = await api.anAccount();
  const team = await api.aTeam({ owner: account });
  const { tokens } = api.services;
  const session = tokens.generate('session');
  await api.rows(
    `insert into session (id, account_id, token_hash, authentication_type, created_at, expires_at, idle_expires_at)
     values ($1, $2, $3, 'password', now(), now() + interval '1 day', now() + interval '1 day')`,
    [`ses_${account.id}`, account.id, session.hash],
  );
  const valid = (await api.anOperatorKey()).secret;
  return {
    'a personal key with all scopes': (await api.anApiKey(account, { scopes: SCOPES })).secret,
    'a team key': (await api.anApiKey(account, { scopes: ['teams:read', 'teams:write'], team })).secret,
    'an access token': (await api.aGrant(account, { scopes: SCOPES })).secret,
    'a session token': session.secret,
    'an unknown operator key': tokens.generate('operatorKey').secret,
    'a revoked operator key': (await api.anOperatorKey({ revoked: true })).secret,
    'an expired operator key': (await api.anOperatorKey({ expiresAt: new Date(Date.now() - 1000) })).secret,
    'an operator key with one other character': `${valid.slice(0, -1)}${valid.endsWith('a') ? 'b' : 'a'}`,
    'no token at all': 'x',
  };
}

describe.for(OPERATIONS)('$method $template', (operation) => {
  test('401 without a valid operator key, whatever else is sent', async ({ api }) => {
    const missing = await api.anonymous.send(aRequest(operation, null));
    expect(outcome(missing)).toBe('401 credential_missing');
    expect(missing.headers['www-authenticate']).toBe('Bearer');

    for (const [name, secret] of Object.entries(await strangers(api))) {
      const answer = await api.anonymous.send(aRequest(operation, secret));
      expect(`${name}: ${outcome(answer)}`).toBe(`${name}: ${INVALID}`);
      expect(answer.headers['www-authenticate']).toBe('Bearer error="invalid_token"');
    }
  });

  test('403 with all scopes but one of its own, before the input is read', async ({ api }) => {
    for (const missing of operation.scopes) {
      const key = await api.anOperatorKey({ scopes: OPERATOR_SCOPES.filter((scope) => scope !== missing) });
      const sent = aRequest(operation, key.secret);
      const broken: Sent = operation.hasBody ? { ...sent, body: '{' } : sent;
      for (const request of [sent, broken]) {
        const answer = await api.anonymous.send(request);
        expect(outcome(answer)).toBe('403 scope_missing');
        expect(answer.headers['www-authenticate']).toBe(`Bearer error="insufficient_scope", scope="${missing}"`);
      }
    }
  });

  test('its scopes alone are enough', async ({ api }) => {
    const key = await api.anOperatorKey({ scopes: operation.scopes.length === 0 ? ['events:read'] : operation.scopes });
    const answer = await api.anonymous.send(aRequest(operation, key.secret));
    expect([401, 405, 415, 500, 503]).not.toContain(answer.status);
    expect(answer.body.code).not.toBe('scope_missing');
    expect(answer.headers['access-control-allow-origin']).toBeUndefined();
  });

  test('403 from an address that the key does not allow', async ({ api }) => {
    const key = await api.anOperatorKey({ addresses: ['192.0.2.0/24', '2001:db8::/32'] });
    const from = async (address: string) => {
      const sent = aRequest(operation, key.secret);
      const answer = await api.anonymous.send({ ...sent, headers: { ...sent.headers, 'x-forwarded-for': address } });
      return answer.body.code === 'address_not_allowed' ? answer.status : 'allowed';
    };
    expect(await Promise.all(['192.0.2.7', '::ffff:192.0.2.7', '2001:db8::1'].map(from))).toEqual(
      Array.from({ length: 3 }, () => 'allowed'),
    );
    expect(await Promise.all(['192.0.3.7', '2001:db9::1', 'unknown', ''].map(from))).toEqual([403, 403, 403, 403]);
  });
});

test.for(OPERATIONS.filter(({ hasBody }) => hasBody))(
  '$method $template: 400 for a body that cannot be read',
  async (operation, { api }) => {
    const key = await api.anOperatorKey();
    const sent = aRequest(operation, key.secret);
    const answered = async (body: string, type = 'application/json') =>
      outcome(await api.anonymous.send({ ...sent, body, headers: { ...sent.headers, 'content-type': type } }));
    expect(await answered('{')).toBe('400 malformed_json');
    expect(await answered('[]')).toBe('400 validation_failed');
    expect(await answered('{}', 'text/plain')).toBe('415 unsupported_media_type');
  },
);

test.for(OPERATIONS.filter(({ template }) => template.includes('{')))(
  '$method $template: 400 for an id that is too long, 404 for an unknown one',
  async (operation, { api }) => {
    const { secret } = await api.anOperatorKey();
    const sent = aRequest(operation, secret);
    const long = operation.template.replaceAll(/\{\w+\}/g, 'x'.repeat(256));
    expect(outcome(await api.anonymous.send({ ...sent, path: long }))).toBe('400 validation_failed');
    expect((await api.anonymous.send(sent)).status).toBe(404);
  },
);

test.for(REST_OPERATIONS)('an operator key is no credential of $method $path', async ({ method, path }, { api }) => {
  const { secret } = await api.anOperatorKey();
  const answer = await api.as(secret).send({ method, path: path.replaceAll(/\{\w+\}/g, 'unknown') });
  expect(outcome(answer)).toBe(INVALID);
});

test('an operator key is no credential of /mcp', async ({ api }) => {
  const { secret } = await api.anOperatorKey();
  const answer = await api.as(secret).post('/mcp', { jsonrpc: '2.0', id: 1, method: 'tools/list' });
  expect(outcome(answer)).toBe(INVALID);
});

type Procedure = { readonly _def: { readonly type: 'query' | 'mutation'; readonly meta?: Meta } };

test('over /trpc an operator key calls the procedures of the operator API and no other', async ({ api }) => {
  const { secret } = await api.anOperatorKey();
  const account = await api.anAccount();
  const personal = await api.anApiKey(account, { scopes: SCOPES });
  const procedures = Object.entries(appRouter._def.procedures as unknown as Record<string, Procedure>); // flat by path
  const call = async (credential: string, path: string, type: string) => {
    const caller = api.as(credential);
    const answer = await (type === 'query' ? caller.get(`/trpc/${path}`) : caller.post(`/trpc/${path}`));
    return String(answer.body.error?.data.problem.code ?? 'answered');
  };
  for (const [path, { _def }] of procedures) {
    if (_def.meta?.access === undefined) continue; // open to callers without a credential
    const isOperators = _def.meta.access.isOperatorApi === true;
    const answers = [await call(secret, path, _def.type), await call(personal.secret, path, _def.type)];
    const isAccepted = answers.map((code) => code !== 'credential_invalid');
    expect([path, ...isAccepted]).toEqual([path, isOperators, !isOperators]);
  }
});
