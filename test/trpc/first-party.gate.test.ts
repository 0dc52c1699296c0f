import type { AnyTRPCProcedure } from '@trpc/server';
import { describe, expect } from 'vitest';
import { APP_PROCEDURES } from '../../clients/typescript/src/generated/app-procedures.ts';
import { SCOPES } from '../../src/entities/index.ts';
import type { Meta } from '../../src/procedures/meta.ts';
import { apiRouter, appRouter } from '../../src/router.ts';
import { aFirstParty, firstPartyTokens } from '../oauth/first-party-flow.ts';
import { aScene, MUTATIONS } from '../events/mutations.ts';
import { refresh, someTokens } from '../oauth/flow.ts';
import { test, type Api } from '../support/api.ts';
import { CASES } from './conditional-effects.ts';
import { outcomeOf, withKey } from './console.ts';

/** The procedures that need a session of everyone else, with the scope that a first-party token needs. */
const OPEN = {
  'account.updateProfile': 'profile:write',
  'apiKeys.list': 'api-keys:read',
  'apiKeys.rename': 'api-keys:write',
  'apiKeys.revokeInTeam': 'api-keys:write',
  'apiKeys.usage': 'api-keys:read',
  'apiKeys.usageOfTeam': 'api-keys:read',
  'invitations.accept': 'teams:write',
  'permissions.list': 'teams:read',
  'teams.acceptOwnership': 'teams:write',
  'teams.bySlug': 'teams:read',
  'teams.declineOwnership': 'teams:write',
  'teams.delete': 'teams:write',
  'teams.leave': 'teams:write',
  'teams.offerOwnership': 'teams:write',
  'teams.ownershipOffer': 'teams:read',
  'teams.ownershipOffers': 'teams:read',
  'teams.permissions': 'teams:read',
  'teams.seats': 'billing:read',
  'teams.sizes': 'teams:read',
  'teams.withdrawOwnershipOffer': 'teams:write',
  'webhooks.create': 'teams:write',
  'webhooks.delete': 'teams:write',
  'webhooks.deliveries': 'teams:read',
  'webhooks.list': 'teams:read',
  'webhooks.pause': 'teams:write',
  'webhooks.replay': 'teams:write',
  'webhooks.replayFailed': 'teams:write',
  'webhooks.resume': 'teams:write',
  'webhooks.rotateSecret': 'teams:write',
  'webhooks.sendTest': 'teams:write',
  'webhooks.types': 'teams:read',
  'webhooks.update': 'teams:write',
} as const;

/** The procedures that are open to everyone, and to first-party tokens. */
const PUBLIC = ['invitations.decline', 'invitations.read'];

/** What a first-party token never reaches, whatever is declared: for these the application links to the console. */
const NEVER =
  /^(?:auth|authorizations|sessions|grants|oauthClients|passkeys|operator|operatorApi|audit)\.|^account\.(?!updateProfile$)/;

const all = appRouter._def.procedures as unknown as Readonly<Record<string, AnyTRPCProcedure>>; // flat by path
const accessOf = (name: string) => (all[name]?._def.meta as Meta | undefined)?.access;
const sessionOnly = Object.keys(all).filter((name) => accessOf(name)?.sessionOnly);

/** The procedures with an effect on lasting access that a first-party token reaches. */
const WITH_EFFECT = Object.entries(all).flatMap(([name, { _def }]) => {
  const { access, effect = 'none' } = (_def.meta ?? {}) as Meta;
  const isReached = access !== undefined && !access.isOperatorApi && (!access.sessionOnly || access.firstParty);
  return _def.type === 'mutation' && isReached && effect !== 'none' ? [{ name, effect }] : [];
});
const PREPARED = new Map(MUTATIONS.map(([name, , prepare]) => [name, prepare]));
const EFFECTS = WITH_EFFECT.flatMap(({ name, effect }) =>
  (effect.startsWith('widens if ') ? (CASES[name]?.widening ?? [undefined]) : [PREPARED.get(name)]).map((prepare) => ({
    name,
    prepare,
  })),
);

/** Makes the only proof of all sessions one by password, so many minutes ago. */
const proveAgo = (api: Api, minutes: number) =>
  api.rows('update session set proofs = $1, proven_at = null', [
    { password: new Date(Date.now() - minutes * 60_000).toISOString() },
  ]);

/** The code of the refusal of a call without input. Access is checked before the input is read. */
async function refusalOf(api: Api, name: string, token: string): Promise<string> {
  const isQuery = all[name]?._def.type === 'query';
  const { body } = await api.anonymous.send({
    method: isQuery ? 'GET' : 'POST',
    path: `/trpc/${name}`,
    headers: { authorization: `Bearer ${token}`, ...(isQuery ? {} : { 'content-type': 'application/json' }) },
    ...(isQuery ? {} : { body: '{}' }),
  });
  return (body.error?.data?.problem?.code as string | undefined) ?? 'none';
}

const tokenWith = async (api: Api, firstParty: readonly (typeof SCOPES)[number][]) =>
  (await firstPartyTokens(api, await aFirstParty(api, { firstParty }), { scope: firstParty.join(' ') })).access;

describe('first-party tokens', () => {
  test('reach of the procedures for sessions what the table has, and no other', async ({ api }) => {
    expect(sessionOnly.length).toBeGreaterThan(80);
    const token = await tokenWith(api, SCOPES);
    const refusals: Record<string, string> = {};
    for (const name of sessionOnly) refusals[name] = await refusalOf(api, name, token);
    const reached = sessionOnly.filter((name) => refusals[name] !== 'session_required');
    expect(reached.toSorted()).toEqual(Object.keys(OPEN).toSorted());
    expect(reached.filter((name) => NEVER.test(name))).toEqual([]);
    for (const [name, scope] of Object.entries(OPEN)) expect(accessOf(name)?.firstParty, name).toBe(scope);
    // Reached: refused for the input, or answered.
    for (const name of reached) expect(refusals[name], name).toMatch(/^(?:none|validation_failed|proof_required)$/);
  });

  test('reach of the procedures that are open to everyone the table alone, and no sign-in', async ({ api }) => {
    const open = Object.keys(all).filter((name) => accessOf(name) === undefined);
    expect(open.length).toBeGreaterThan(20);
    const token = await tokenWith(api, SCOPES);
    const reached: string[] = [];
    for (const name of open) if ((await refusalOf(api, name, token)) !== 'session_required') reached.push(name);
    expect(reached.toSorted()).toEqual(PUBLIC);
    expect(reached.filter((name) => NEVER.test(name))).toEqual([]);
  });

  test('reach no other procedure than the server kit forwards, and all of these', () => {
    const scoped = Object.keys(apiRouter._def.procedures);
    for (const name of [...Object.keys(OPEN), ...PUBLIC, ...scoped]) expect(APP_PROCEDURES, name).toContain(name);
    const closed = [...sessionOnly, ...Object.keys(all).filter((name) => accessOf(name) === undefined)];
    const open = new Set([...Object.keys(OPEN), ...PUBLIC]);
    for (const name of closed) expect(APP_PROCEDURES.has(name), name).toBe(open.has(name));
    expect([...APP_PROCEDURES].filter((name) => NEVER.test(name))).toEqual([]);
  });

  test('reach them with the scope alone, and those of other clients not at all', async ({ api }) => {
    for (const [name, scope] of Object.entries(OPEN)) {
      const others = SCOPES.filter((one) => one !== scope);
      const token = others.length === SCOPES.length ? '' : await tokenWith(api, others);
      expect(await refusalOf(api, name, token), name).toBe('scope_missing');
    }
    const { tokens } = await someTokens(api, { scopes: SCOPES });
    for (const name of Object.keys(OPEN))
      expect(await refusalOf(api, name, tokens.access), name).toBe('session_required');
  });

  test('reach every operation of the REST API by its scope', async ({ api }) => {
    const token = await tokenWith(api, SCOPES);
    for (const name of Object.keys(apiRouter._def.procedures))
      expect(await refusalOf(api, name, token), name).toMatch(/^(?:none|validation_failed|proof_required)$/);
  });

  test('walk every effect that they reach', () => {
    expect(WITH_EFFECT.length).toBeGreaterThanOrEqual(14);
    expect(EFFECTS.filter(({ prepare }) => prepare === undefined)).toEqual([]);
  });

  // Guarantees that nothing but a sign-in renews the proof of an application.
  test.for(EFFECTS)(
    'call $name with the recent proof of their own authorization alone',
    async ({ prepare }, { api }) => {
      const client = await api.anOAuthClient({ confidential: true, firstParty: SCOPES });
      const scene = await aScene(api);
      const { visitor = scene.owner.visitor, call } = await prepare!(scene);
      const tokens = () => firstPartyTokens(api, { client, visitor }, { scope: SCOPES.join(' ') });
      const outcomeWith = (secret = '') => outcomeOf(call(withKey(api, { secret })));

      await proveAgo(api, 11);
      const late = await tokens();
      await proveAgo(api, 0);
      const refreshed = await refresh(api, client, late.refresh);
      expect(refreshed.status).toBe(200);
      expect([await outcomeWith(late.access), await outcomeWith(refreshed.body.access_token)]).toEqual([
        'proof_required',
        'proof_required',
      ]);

      expect(await outcomeWith((await tokens()).access)).toBe('done');
    },
  );

  test('change what their user can, also lasting things, with a recent proof alone', async ({ api }) => {
    const scene = await aFirstParty(api, { firstParty: SCOPES });
    const team = await api.aTeam({ owner: scene.account });
    const call = async (access: string, name: string, input: unknown) =>
      (
        await api.anonymous.send({
          method: 'POST',
          path: `/trpc/${name}`,
          headers: { authorization: `Bearer ${access}`, 'content-type': 'application/json' },
          body: JSON.stringify(input),
        })
      ).body;
    const { access: fresh } = await firstPartyTokens(api, scene, { scope: '' });
    await proveAgo(api, 11);
    const { access: late } = await firstPartyTokens(api, scene, { scope: '' });
    const role = { teamId: team.id, name: 'Billing', permissions: ['manage_api_keys'] };
    expect((await call(late, 'teams.delete', { teamId: team.id })).error.data.problem.code).toBe('proof_required');
    expect((await call(late, 'roles.create', { ...role, permissions: ['access_dashboard'] })).result).toBeDefined();
    expect((await call(fresh, 'roles.create', { ...role, name: 'Keys' })).result).toBeDefined();
    expect((await call(fresh, 'account.updateProfile', { firstName: 'Ada', lastName: 'L' })).error).toBeUndefined();
    await scene.visitor.trpc.auth.signOut.mutate();
    expect((await call(fresh, 'teams.delete', { teamId: team.id })).error.data.problem.code).toBe('credential_invalid');
  });

  test('manage the webhook endpoints of a team, never those of the installation', async ({ api }) => {
    const scene = await aFirstParty(api, { firstParty: SCOPES });
    await api.rows(`update account set role = 'admin' where id = $1`, [scene.account.id]);
    const team = await api.aTeam({ owner: scene.account });
    const create = async (access: string, teamId: string | null) =>
      (
        await api.anonymous.send({
          method: 'POST',
          path: '/trpc/webhooks.create',
          headers: { authorization: `Bearer ${access}`, 'content-type': 'application/json' },
          body: JSON.stringify({ teamId, url: 'https://hooks.example/team', types: [] }),
        })
      ).body;
    const { access } = await firstPartyTokens(api, scene, { scope: '' });
    expect((await create(access, team.id)).result?.data).toMatchObject({ secret: expect.any(String) });
    expect((await create(access, null)).error.data.problem.code).toBe('route_not_found');
    // Its events contain members, whatever its types are now.
    const { access: small } = await firstPartyTokens(api, scene, { scope: 'teams:read teams:write' });
    expect((await create(small, team.id)).error.data.problem.code).toBe('scope_missing');
    await api.rows('update session set proofs = $2, proven_at = null where account_id = $1', [
      scene.account.id,
      { password: new Date(Date.now() - 11 * 60_000).toISOString() },
    ]);
    const { access: late } = await firstPartyTokens(api, scene, { scope: '' });
    expect((await create(late, team.id)).error.data.problem.code).toBe('proof_required');
  });
});
