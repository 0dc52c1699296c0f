import { decodeJwt } from 'jose';
import { describe, expect } from 'vitest';
import { test, type Api } from '../support/api.ts';
import { problemOf } from '../support/browser.ts';
import { declarePermissions } from '../trpc/product-permissions.ts';
import { aFirstParty, authorize, endOf, firstPartyTokens, outcomeAt } from './first-party-flow.ts';
import { aProofKey, browse, exchange, refresh, someTokens } from './flow.ts';
import { grantOf, outcome, works } from './token-endpoint.ts';

/** Of the service and of the product. */
const HELD_BY_OWNER = expect.arrayContaining(['manage_api_keys', 'invoices:read', 'invoices:write']);

const OPENID = { scope: 'openid teams:read' };

/** Somebody in two teams, of which the first has an external id. */
async function inTwoTeams(api: Api, options: Parameters<typeof aFirstParty>[1] = {}) {
  const scene = await aFirstParty(api, options);
  const [one, two] = [await api.aTeam({ owner: scene.account }), await api.aTeam({ owner: await api.anAccount() })];
  await api.aMember(two, scene.account, { role: 'member' });
  const externalId = `crm-${one.id}`;
  await api.rows('update team set external_id = $2 where id = $1', [one.id, externalId]);
  const [row] = await api.rows<{ slug: string }>('select slug from team where id = $1', [one.id]);
  return { ...scene, one: { ...one, slug: row?.slug ?? '', externalId }, two };
}

const leave = (api: Api, team: { id: string }, account: { id: string }) =>
  api.rows('delete from membership where team_id = $1 and account_id = $2', [team.id, account.id]);
const teamOf = (idToken: string | undefined) =>
  (decodeJwt(idToken ?? '')['roster_team'] as { id: string } | undefined)?.id;
const switchTo = (api: Api, { client }: { client: Parameters<typeof refresh>[1] }, token: string, team: string) =>
  refresh(api, client, token, { team });
const pageOf = async (api: Api, scene: Awaited<ReturnType<typeof aFirstParty>>, asked: Record<string, string>) => {
  const answer = await authorize(api, scene.visitor, scene.client, aProofKey().challenge, asked);
  const id = answer.headers.location?.split('/').at(-1) ?? '';
  return { id, read: await scene.visitor.trpc.authorizations.read.query({ id }) };
};

describe('the active team', () => {
  test('is that of an id, a slug or an external id, in the id token, userinfo and verify', async ({ api }) => {
    await declarePermissions(api, [{ name: 'invoices:read', roles: ['member'] }, { name: 'invoices:write' }]);
    const scene = await inTwoTeams(api);
    const { id, slug, externalId } = scene.one;
    const operator = await api.anOperatorKey();
    for (const team of [id, slug, `ext:${externalId}`]) {
      const { body, access } = await firstPartyTokens(api, scene, { ...OPENID, team });
      const claim = { id, slug, externalId, role: 'owner', permissions: HELD_BY_OWNER };
      expect(decodeJwt(body['id_token'] ?? '')).toMatchObject({ roster_team: claim });
      expect((await api.as(access).get('/oauth/userinfo')).body.roster_team).toMatchObject(claim);
      const verified = await api.as(operator).post('/operator/v1/credentials/verify', { credential: access });
      expect(verified.body).toMatchObject({
        valid: true,
        team: { id },
        role: { id: 'owner' },
        credential: { teamId: null },
      });
      // It is no audience: other teams are reached, and can be asked about.
      expect((await api.as(access).get('/api/v1/teams')).body).toHaveLength(2);
      const other = { credential: access, teamId: scene.two.id };
      expect((await api.as(operator).post('/operator/v1/credentials/verify', other)).body.team.id).toBe(scene.two.id);
    }
    const asMember = await firstPartyTokens(api, scene, { ...OPENID, team: scene.two.id });
    const claim = { role: 'member', permissions: ['access_dashboard', 'invoices:read'] };
    expect(decodeJwt(asMember.body['id_token'] ?? '')).toMatchObject({ roster_team: claim });
    expect((await api.as(asMember.access).get('/oauth/userinfo')).body.roster_team).toMatchObject(claim);
    const without = await firstPartyTokens(api, scene, OPENID);
    expect(decodeJwt(without.body['id_token'] ?? '')).not.toHaveProperty('roster_team');
  });

  test('has to be an active membership: the application gets access_denied with a description', async ({ api }) => {
    const scene = await inTwoTeams(api);
    const foreign = await api.aTeam({ owner: await api.anAccount() });
    await api.rows('update membership set is_active = false where team_id = $1 and account_id = $2', [
      scene.two.id,
      scene.account.id,
    ]);
    for (const team of [foreign.id, scene.two.id, 'team_unknown', 'no-such-slug', 'ext:unknown']) {
      const end = endOf(await authorize(api, scene.visitor, scene.client, aProofKey().challenge, { team }));
      expect(end, team).toMatchObject({ error: 'access_denied', error_description: expect.stringContaining('team') });
      expect(await outcomeAt(api, scene.visitor, scene.client, { team, prompt: 'none' })).toBe('access_denied');
    }
    expect(await outcomeAt(api, scene.visitor, scene.client, { team: 'x'.repeat(300) })).toBe('invalid_request');
    expect(await outcomeAt(api, scene.visitor, scene.client, { team: '' })).toBe('code');
  });

  test('means nothing to clients that are not first-party', async ({ api }) => {
    const { visitor } = await inTwoTeams(api);
    const client = await api.anOAuthClient({ confidential: true });
    expect(await outcomeAt(api, visitor, client, { team: 'unknown' })).toBe('page');
    const { tokens, client: other } = await someTokens(api);
    expect(outcome(await refresh(api, other, tokens.refresh, { team: 'unknown' }))).toBe('200');
  });

  test('is another one after a refresh that names it, without a second grant, and stays in the tokens before', async ({
    api,
  }) => {
    const scene = await inTwoTeams(api);
    const first = await firstPartyTokens(api, scene, { ...OPENID, team: scene.one.id });
    const grant = await grantOf(api, scene.client);
    const second = await switchTo(api, scene, first.refresh, scene.two.id);
    expect(teamOf(second.body.id_token)).toBe(scene.two.id);
    const later = await refresh(api, scene.client, first.refresh);
    expect(teamOf(later.body.id_token)).toBe(scene.two.id);
    const userinfo = async (token: string) => (await api.as(token).get('/oauth/userinfo')).body.roster_team?.id;
    expect(await userinfo(first.access)).toBe(scene.one.id);
    expect(await userinfo(second.body.access_token)).toBe(scene.two.id);
    const none = await switchTo(api, scene, first.refresh, '');
    expect(teamOf(none.body.id_token)).toBeUndefined();
    expect(await grantOf(api, scene.client)).toBe(grant);
  });

  test('of tabs that refresh and change it at once is the one that each asked for', async ({ api }) => {
    const scene = await inTwoTeams(api);
    const { refresh: token } = await firstPartyTokens(api, scene, { ...OPENID, team: scene.one.id });
    const wanted = [scene.one.id, scene.two.id, scene.one.id, scene.two.id];
    const answers = await Promise.all(wanted.map((team) => switchTo(api, scene, token, team)));
    expect(answers.map(({ body }) => teamOf(body.id_token))).toEqual(wanted);
  });

  test('that was left refuses what names it, and costs the session nothing', async ({ api }) => {
    const scene = await inTwoTeams(api);
    const tokens = await firstPartyTokens(api, scene, { ...OPENID, team: scene.two.id });
    const { verifier, challenge } = aProofKey();
    const pending = endOf(await authorize(api, scene.visitor, scene.client, challenge, { team: scene.two.id }));
    await leave(api, scene.two, scene.account);
    const late = await exchange(api, { client: scene.client, code: (pending as { code: string }).code, verifier });
    expect([outcome(late), late.body.error_description]).toEqual(['400 invalid_grant', expect.stringMatching(/team/)]);
    const plain = await refresh(api, scene.client, tokens.refresh);
    expect([outcome(plain), plain.body.error_description]).toEqual([
      '400 invalid_grant',
      expect.stringMatching(/team/),
    ]);
    const named = await switchTo(api, scene, tokens.refresh, scene.two.id);
    expect([outcome(named), named.body.error_description]).toEqual([
      '400 access_denied',
      expect.stringMatching(/team/),
    ]);
    expect((await api.as(tokens.access).get('/oauth/userinfo')).body).not.toHaveProperty('roster_team');
    expect(await works(api, tokens.access)).toBe(true);
    expect(teamOf((await switchTo(api, scene, tokens.refresh, scene.one.slug)).body.id_token)).toBe(scene.one.id);
    for (const team of ['unknown', 'x'.repeat(300)])
      expect(outcome(await switchTo(api, scene, tokens.refresh, team))).toMatch(
        /^400 (access_denied|invalid_request)$/,
      );
  });

  test.for(['is_active = false', `expires_at = now() - interval '1 ms'`])(
    'in which the membership ended between code and token (%s) gives none',
    async (change, { api }) => {
      const scene = await inTwoTeams(api);
      const { verifier, challenge } = aProofKey();
      const pending = endOf(await authorize(api, scene.visitor, scene.client, challenge, { team: scene.two.id }));
      await api.rows(`update membership set ${change} where team_id = $1 and account_id = $2`, [
        scene.two.id,
        scene.account.id,
      ]);
      const { code } = pending as { code: string };
      const late = await exchange(api, { client: scene.client, code, verifier });
      expect([outcome(late), late.body.error_description]).toEqual([
        '400 invalid_grant',
        expect.stringMatching(/team/),
      ]);
      // The session is not lost: the next request gets tokens.
      expect(await works(api, (await firstPartyTokens(api, scene, OPENID)).access)).toBe(true);
    },
  );

  test('of a public client changes without the loss of its rotated token', async ({ api }) => {
    const scene = await inTwoTeams(api, { confidential: false, native: true, redirectUri: 'http://127.0.0.1/cb' });
    const page = await pageOf(api, scene, { scope: 'teams:read', team: scene.one.id });
    expect(page.read.firstParty).toBe('confirmation');
    const { verifier, challenge } = aProofKey();
    const answer = await authorize(api, scene.visitor, scene.client, challenge, { ...OPENID, team: scene.one.id });
    const id = answer.headers.location?.split('/').at(-1) ?? '';
    const { redirectTo } = await scene.visitor.trpc.authorizations.continue.mutate({ id, accountId: scene.account.id });
    const { code } = endOf(await browse(api, scene.visitor)(new URL(redirectTo).pathname)) as { code: string };
    const { body } = await exchange(api, { client: scene.client, code, verifier });
    expect(outcome(await switchTo(api, scene, body.refresh_token, 'unknown'))).toBe('400 access_denied');
    const next = await switchTo(api, scene, body.refresh_token, scene.two.id);
    expect(teamOf(next.body.id_token)).toBe(scene.two.id);
    // A second tab with the token of before: it is told, and nothing ends.
    expect(outcome(await refresh(api, scene.client, body.refresh_token))).toBe('400 invalid_grant');
    expect(outcome(await refresh(api, scene.client, next.body.refresh_token))).toBe('200');
  });
});

describe('team=choose', () => {
  const CHOOSE = { ...OPENID, team: 'choose' };

  test('asks who is in several teams, or in none, and nobody else', async ({ api }) => {
    const scene = await inTwoTeams(api);
    expect(await outcomeAt(api, scene.visitor, scene.client, { ...CHOOSE, prompt: 'none' })).toBe(
      'interaction_required',
    );
    expect((await pageOf(api, scene, CHOOSE)).read).toMatchObject({ firstParty: 'team' });
    await leave(api, scene.two, scene.account);
    expect(teamOf((await firstPartyTokens(api, scene, CHOOSE)).body['id_token'])).toBe(scene.one.id);
    const alone = await aFirstParty(api);
    expect((await pageOf(api, alone, CHOOSE)).read).toMatchObject({ firstParty: 'team', teams: [] });
  });

  test('continues with the chosen team, which has to be one of the user', async ({ api }) => {
    const scene = await inTwoTeams(api);
    const foreign = await api.aTeam({ owner: await api.anAccount() });
    const { verifier, challenge } = aProofKey();
    const answer = await authorize(api, scene.visitor, scene.client, challenge, CHOOSE);
    const id = answer.headers.location?.split('/').at(-1) ?? '';
    const input = { id, accountId: scene.account.id };
    const { continue: go } = scene.visitor.trpc.authorizations;
    expect(await problemOf(go.mutate(input))).toMatchObject({ errors: [{ pointer: '/teamId' }] });
    expect(await problemOf(go.mutate({ ...input, teamId: foreign.id }))).toMatchObject({ code: 'team_not_found' });
    const { redirectTo } = await go.mutate({ ...input, teamId: scene.two.id });
    const { code } = endOf(await browse(api, scene.visitor)(new URL(redirectTo).pathname)) as { code: string };
    const tokens = await exchange(api, { client: scene.client, code, verifier });
    expect(teamOf(tokens.body.id_token)).toBe(scene.two.id);
  });
});
