import { expect } from 'vitest';
import { createOperator, type Requirements } from '../../clients/typescript/src/index.ts';
import { startApi, testWith, type Api } from '../support/api.ts';
import { signedIn } from '../support/browser.ts';

const test = testWith(() => startApi({ RATE_LIMIT: '2' }));

/** An operator whose requests are counted, and an owner of a team with a key. */
async function aStart(api: Api) {
  const account = await api.anAccount();
  const team = await api.aTeam({ owner: account, name: 'Engines' });
  const key = await api.anApiKey(account, { scopes: ['teams:read'] });
  const sent: string[] = [];
  const operator = createOperator({
    baseUrl: `http://127.0.0.1:${api.port}`,
    operatorKey: (await api.anOperatorKey({ scopes: ['credentials:verify'] })).secret,
    retries: 0,
    fetch: (url, init) => {
      sent.push(new Request(url, init).url);
      return fetch(url, init);
    },
  });
  const ask = (token: string, needs?: Requirements) =>
    operator.authenticate({ headers: { authorization: `Bearer ${token}` } }, needs);
  return { account, team, key, operator, ask, sent };
}

test('one call answers who sent a request, in which team and role', async ({ api }) => {
  const { account, team, key, operator, sent } = await aStart(api);
  const authorization = `Bearer ${key.secret}`;
  for (const headers of [new Headers({ authorization }), { authorization }, { Authorization: `bearer  ${key.secret}` }])
    expect(await operator.authenticate({ headers }, { teamId: team.id, scopes: ['teams:read'] })).toMatchObject({
      valid: true,
      account: { id: account.id, email: account.email },
      credential: { kind: 'api-key', scopes: ['teams:read'] },
      team: { id: team.id, name: 'Engines' },
      role: { id: 'owner' },
    });
  expect(sent).toHaveLength(3);
});

test('a denial says how to answer the request, in the order of the API', async ({ api }) => {
  const { team, key, ask } = await aStart(api);
  const stranger = await api.anApiKey(await api.anAccount(), { scopes: ['teams:read'] });
  const guest = await api.anAccount();
  await api.aMember(team, guest, { role: 'guest' });
  const guestKey = await api.anApiKey(guest, { scopes: ['teams:read'] });

  expect(await ask(key.secret, { teamId: team.id, scopes: ['teams:read', 'members:read'] })).toEqual({
    valid: false,
    code: 'scope_missing',
    status: 403,
    headers: { 'www-authenticate': 'Bearer error="insufficient_scope", scope="teams:read members:read"' },
  });
  expect(await ask(stranger.secret, { teamId: team.id })).toMatchObject({ code: 'team_not_found', status: 404 });
  expect(await ask(guestKey.secret, { teamId: team.id, permission: 'access_dashboard' })).toMatchObject({
    code: 'permission_missing',
    status: 403,
  });
  const charged = [1, 2, 3].map(() => ask(key.secret, { charge: true }));
  expect((await Promise.all(charged)).filter(({ valid }) => !valid)).toEqual([
    { valid: false, code: 'rate_limited', status: 429, headers: { 'retry-after': expect.stringMatching(/^\d+$/) } },
  ]);
  await api.rows('update api_key set revoked_at = now() where id = $1', [key.id]);
  expect(await ask(key.secret)).toMatchObject({ code: 'credential_invalid', status: 401 });
});

// Guarantees that no sender can make an API of the operator answer 503 by what they send.
test('whatever the sender sends is a denial, and never an error', async ({ api }) => {
  const { key, operator, ask } = await aStart(api);
  const missing = { code: 'credential_missing', status: 401, headers: { 'www-authenticate': 'Bearer' } };
  for (const authorization of [undefined, '', 'Bearer', `Basic ${key.secret}`, `DPoP ${key.secret}`, [key.secret]])
    expect(await operator.authenticate({ headers: { authorization } })).toEqual({ valid: false, ...missing });
  const invalid = { valid: false, status: 401, headers: { 'www-authenticate': 'Bearer error="invalid_token"' } };
  for (const token of ['', 'x', 'x'.repeat(501), 'a b', `${key.secret}, ${key.secret}`, 'zoë', 'rst_ok_x'])
    expect([token, await ask(token)]).toEqual([token, { code: 'credential_invalid', ...invalid }]);
  for (const teamId of ['', 'x'.repeat(256), 'team_x\u0000', '\ud800', 'team_x'])
    expect([teamId, await ask(key.secret, { teamId })]).toMatchObject([
      teamId,
      { code: 'team_not_found', status: 404 },
    ]);
});

test('a token that is bound to a key is denied, and one for another resource', async ({ api }) => {
  const { account, ask } = await aStart(api);
  const bound = await api.aGrant(account, { scopes: ['teams:read'] });
  expect(await ask(bound.secret)).toMatchObject({ valid: true });
  await api.rows('update oauth_token set thumbprint = $2 where grant_id = $1', [bound.id, 'k'.repeat(43)]);
  expect(await ask(bound.secret)).toMatchObject({ code: 'credential_invalid', status: 401 });

  const forMcp = await api.aGrant(account, { scopes: ['teams:read'] });
  await api.rows(`update oauth_grant set resource = 'mcp' where id = $1`, [forMcp.id]);
  expect(await ask(forMcp.secret)).toMatchObject({ code: 'credential_invalid' });
  expect(await ask(forMcp.secret, { resource: 'mcp' })).toMatchObject({ valid: true });
});

test('an answer that the service cannot give is an error, also for a wrong operator key', async ({ api }) => {
  const { key } = await aStart(api);
  const request = { headers: { authorization: `Bearer ${key.secret}` } };
  const asked = (baseUrl: string, operatorKey: string) =>
    createOperator({ baseUrl, operatorKey, retries: 0 }).authenticate(request);
  const here = `http://127.0.0.1:${api.port}`;
  const { secret } = await api.anOperatorKey({ scopes: ['teams:read'] });

  await expect(asked('http://127.0.0.1:9', secret)).rejects.toBeInstanceOf(TypeError);
  await expect(asked(here, 'rst_ok_x')).rejects.toMatchObject({ code: 'credential_invalid' });
  await expect(asked(here, secret)).rejects.toMatchObject({ code: 'scope_missing' });
});

test('a call whose response was lost is sent again', async ({ api }) => {
  const { key } = await aStart(api);
  let calls = 0;
  const operator = createOperator({
    baseUrl: `http://127.0.0.1:${api.port}`,
    operatorKey: (await api.anOperatorKey({ scopes: ['credentials:verify'] })).secret,
    fetch: async (url, init) => {
      if ((calls += 1) === 1) throw new TypeError('connection lost');
      return fetch(url, init);
    },
  });
  const request = new Request('http://api.test/', { headers: { authorization: `Bearer ${key.secret}` } });
  expect(await operator.authenticate(request)).toMatchObject({ valid: true });
  expect(calls).toBe(2);
});

// Guarantees that no page of another site, or of a sibling domain, acts with the cookie that browsers send with its requests.
test('a session cookie counts if it is asked for, in requests from the own origin', async ({ api }) => {
  const { account, team, operator } = await aStart(api);
  const session = (await signedIn(api, account)).cookies.get('roster_session_3000') ?? '';
  const ask = (site: string | undefined, name = 'roster_session_3000', kinds?: Requirements['kinds']) =>
    operator.authenticate(
      {
        headers: {
          host: 'localhost:3000',
          cookie: `a=b; roster_session_4000=rst_ses_other; ${name}=${session}`,
          'sec-fetch-site': site,
        },
      },
      { teamId: team.id, ...(kinds && { kinds }) },
    );
  const kinds = ['session', 'api-key'] as const;

  for (const name of ['roster_session', '__Host-roster_session', 'roster_session_3000', '__Host-roster_session_3000'])
    expect(await ask('same-origin', name, [...kinds])).toMatchObject({
      valid: true,
      account: { id: account.id },
      credential: { kind: 'session' },
    });
  // Those that a sibling domain can set are nothing beside one that it cannot set.
  for (const name of ['__Host-roster_session_3000', '__Host-roster_session'])
    expect(await ask('same-origin', `roster_session_3000=rst_ses_other; ${name}`, [...kinds])).toMatchObject({
      valid: true,
      account: { id: account.id },
    });
  // Empty after a sign-out.
  expect(await ask('same-origin', 'roster_session_3000=; roster_session', [...kinds])).toMatchObject({
    code: 'credential_missing',
  });
  for (const site of ['same-site', 'cross-site', 'none', undefined])
    expect(await ask(site, undefined, [...kinds]), site).toMatchObject({ valid: false, code: 'credential_missing' });
  expect(await ask('same-origin')).toMatchObject({ valid: false, code: 'credential_missing' });
});
