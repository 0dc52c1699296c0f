import { describe, expect } from 'vitest';
import { test, type Api } from '../support/api.ts';
import { signedIn } from '../support/browser.ts';
import { aCode, aProofKey, askConsent, exchange, goodRequest, post, refresh, resume, someTokens } from './flow.ts';
import { grantOf, postForm } from './token-endpoint.ts';

type Ids = { readonly client: { readonly id: string }; readonly grantId?: string };

const OF_EVERY_LINE: ReadonlySet<string> = new Set(['level', 'time', 'pid', 'hostname', 'msg']);

/** What the log tells an auditor about a client and its grant while something happens. */
async function audited(api: Api, { client, grantId }: Ids, happens: () => Promise<unknown>) {
  const before = api.lines.length;
  await happens();
  return api.lines
    .slice(before)
    .filter((line) => line['audit'] !== undefined && (line['clientId'] === client.id || line['grantId'] === grantId))
    .map((line) => Object.fromEntries(Object.entries(line).filter(([name]) => !OF_EVERY_LINE.has(name))));
}

async function aChain(api: Api) {
  const given = await someTokens(api, { scopes: ['profile:read', 'teams:read'] });
  const grantId = await grantOf(api, given.client);
  const ids = { clientId: given.client.id, grantId };
  return { ...given, grantId, named: { ...ids, accountId: given.account.id } };
}

const refusedFor = (clientId: string, error: string) => ({
  audit: 'oauth_request.denied',
  clientId,
  reason: expect.stringMatching(new RegExp(`^${error}: .`)),
});

// Guarantees one line for each event, with ids and reasons; that none holds a secret is looked at when the file ends.
describe('the log has a line for', () => {
  test('a grant, and for the tokens', async ({ api }) => {
    const client = await api.anOAuthClient();
    const account = await api.anAccount();
    const team = await api.aTeam({ owner: account });

    const lines = await audited(api, { client }, () => someTokens(api, { client, account, team }));

    const ids = { accountId: account.id, clientId: client.id, grantId: await grantOf(api, client) };
    const { grantId: _, ...known } = ids;
    expect(lines).toEqual([
      { audit: 'oauth_grant.approved', ...known, teamId: team.id, scopes: ['teams:read'] },
      { audit: 'oauth_grant.created', ...ids, teamId: team.id, scopes: ['teams:read'] },
      { audit: 'oauth_token.issued', ...ids, scopes: ['teams:read'] },
    ]);
  });

  test('a denial by the user, which is not an error of the client', async ({ api }) => {
    const client = await api.anOAuthClient();
    const account = await api.anAccount();
    const visitor = await signedIn(api, account);

    const lines = await audited(api, { client }, async () => {
      const id = await askConsent(api, visitor, goodRequest(client, aProofKey().challenge, ['teams:read']));
      const { redirectTo } = await visitor.trpc.authorizations.deny.mutate({ id });
      expect((await resume(api, visitor, redirectTo)).get('error')).toBe('access_denied');
    });

    expect(lines).toEqual([{ audit: 'oauth_grant.denied', accountId: account.id, clientId: client.id }]);
  });

  test('a refresh, and for its repetition', async ({ api }) => {
    const chain = await aChain(api);
    const { client, tokens, named } = chain;
    const again = () => refresh(api, client, tokens.refresh);

    const lines = await audited(api, chain, () => refresh(api, client, tokens.refresh, { scope: 'teams:read' }));
    expect(lines).toEqual([{ audit: 'oauth_token.issued', ...named, scopes: ['teams:read'] }]);

    const next = await aChain(api);
    const first = await audited(api, next, () => refresh(api, next.client, next.tokens.refresh));
    expect(first).toEqual([{ audit: 'oauth_token.issued', ...next.named, scopes: ['profile:read', 'teams:read'] }]);
    const second = await audited(api, next, () => refresh(api, next.client, next.tokens.refresh));
    expect(second).toEqual([{ audit: 'oauth_token.repeated', ...next.named }]);

    // With another scope: a reuse.
    expect(await audited(api, chain, again)).toEqual([
      { audit: 'oauth_token.reused', ...named, reason: 'refresh' },
      { audit: 'oauth_grant.revoked', ...named, teamId: null, reason: 'refresh used twice' },
      refusedFor(client.id, 'invalid_grant'),
    ]);
    expect(await audited(api, chain, again)).toEqual([refusedFor(client.id, 'invalid_grant')]);
  });

  test('a code that is used again, also eight times concurrently', async ({ api }) => {
    const given = await aCode(api);
    await exchange(api, given);
    const grantId = await grantOf(api, given.client);

    const lines = await audited(api, { ...given, grantId }, () =>
      Promise.all(Array.from({ length: 8 }, () => exchange(api, given))),
    );

    const ids = { clientId: given.client.id, grantId };
    const named = { ...ids, accountId: given.account.id, teamId: null };
    const refusals = lines.filter(({ audit }) => audit === 'oauth_request.denied');
    expect(refusals).toEqual(Array.from({ length: 8 }, () => refusedFor(given.client.id, 'invalid_grant')));
    expect(lines.filter(({ audit }) => audit === 'oauth_grant.revoked')).toEqual([
      { audit: 'oauth_grant.revoked', ...named, reason: 'code used twice' },
    ]);
    expect(lines.find(({ audit }) => audit === 'oauth_token.reused')).toEqual({
      audit: 'oauth_token.reused',
      ...ids,
      accountId: given.account.id,
      reason: 'code',
    });
  });

  test('a grant whose scopes are reduced, and one that is revoked', async ({ api }) => {
    const chain = await aChain(api);
    const { grants } = chain.visitor.trpc;
    const { grantId, named } = chain;

    const narrowed = await audited(api, chain, () => grants.narrow.mutate({ grantId, scopes: ['teams:read'] }));
    expect(narrowed).toEqual([{ audit: 'oauth_grant.reduced', ...named, teamId: null, scopes: ['teams:read'] }]);

    const revoked = await audited(api, chain, () => grants.revoke.mutate({ grantId }));
    expect(revoked).toEqual([{ audit: 'oauth_grant.revoked', ...named, teamId: null, reason: 'by the account' }]);
  });

  test('what a client gives back', async ({ api }) => {
    const chain = await aChain(api);
    const other = await api.anOAuthClient();
    const { client, tokens, named } = chain;
    const giveBack =
      (token: string, by = client) =>
      () =>
        post(api, '/oauth/revoke', by, { token });

    expect(await audited(api, chain, giveBack(tokens.access, other))).toEqual([]);
    expect(await audited(api, chain, giveBack('rst_at_0'))).toEqual([]);
    expect(await audited(api, chain, giveBack(tokens.access))).toEqual([
      { audit: 'oauth_token.revoked', ...named, reason: 'revoked by the client' },
    ]);
    expect(await audited(api, chain, giveBack(tokens.refresh))).toEqual([
      { audit: 'oauth_grant.revoked', ...named, teamId: null, reason: 'revoked by the client' },
    ]);
    expect(await audited(api, chain, giveBack(tokens.refresh))).toEqual([]);
  });

  test('every denied request', async ({ api }) => {
    const { client, tokens, grantId, code, verifier } = await aChain(api);
    const secretive = await api.anOAuthClient({ confidential: true });
    const form = { grant_type: 'refresh_token', refresh_token: tokens.refresh };
    const exchanged = { grant_type: 'authorization_code', code, code_verifier: verifier };
    const as = { client_id: secretive.id, client_secret: secretive.clientSecret ?? '' };
    const cases: [error: string, path: string, form: Record<string, string>][] = [
      ['invalid_client', 'token', { ...form, client_id: secretive.id, client_secret: tokens.refresh }],
      ['invalid_client', 'revoke', { token: tokens.refresh, client_id: secretive.id }],
      ['invalid_client', 'introspect', { token: tokens.refresh, client_id: secretive.id }],
      ['invalid_client', 'par', { client_id: secretive.id }],
      ['invalid_grant', 'token', { ...form, ...as }],
      ['invalid_grant', 'token', { ...exchanged, ...as }],
      ['unsupported_grant_type', 'token', { ...as, grant_type: tokens.refresh }],
      ['invalid_request', 'revoke', as],
      ['invalid_request', 'introspect', as],
      ['invalid_request', 'par', as],
    ];

    for (const [error, path, body] of cases) {
      const lines = await audited(api, { client: secretive }, () => postForm(api, `/oauth/${path}`, body));
      expect(lines, `${path} ${error}`).toEqual([refusedFor(secretive.id, error)]);
    }
    const lines = await audited(api, { client, grantId }, () =>
      refresh(api, client, tokens.refresh, { scope: 'members:read' }),
    );
    expect(lines).toEqual([refusedFor(client.id, 'invalid_scope')]);
  });
});
