import pg from 'pg';
import { describe, expect } from 'vitest';
import { newId, PERMISSIONS, SCOPES } from '../../src/entities/index.ts';
import { isAccountOnly } from '../../src/auth/scopes.ts';
import { test, type Api } from '../support/api.ts';
import type { AKey } from '../support/factories.ts';
import { anInvitationWithLink, as, inMinutes, outcomeOf, stateOf, type Trpc } from './console.ts';

/** A team with something to change, and a caller who can change it. */
async function aScene(api: Api, role: 'owner' | 'admin') {
  const [owner, admin, other] = [await api.anAccount(), await api.anAccount(), await api.anAccount()];
  const team = await api.aTeam({ owner });
  await api.aSubscription(team);
  const { id: adminRole } = await api.aRole(team, PERMISSIONS);
  await api.aMember(team, admin, { role: adminRole });
  await api.aMember(team, other, { role: 'member' });
  const caller = role === 'owner' ? owner : admin;
  return {
    team,
    teamId: team.id,
    caller,
    userId: other.id,
    heir: admin,
    adminRole,
    roleId: (await api.aRole(team, [])).id,
    invitation: await anInvitationWithLink(api, team),
    key: await api.anApiKey(other, { team }),
    trpc: await as(api, caller),
    rest: await api.anApiKey(caller, { scopes: SCOPES }),
    teamKey: await api.anApiKey(caller, { team, scopes: SCOPES.filter((scope) => !isAccountOnly(scope)) }),
  };
}

type Scene = Awaited<ReturnType<typeof aScene>>;

type Change = {
  readonly name: string;
  readonly by?: 'owner';
  /** Every member can do it, so a demotion does not matter. */
  readonly byAnyMember?: true;
  readonly prepare?: (api: Api, scene: Scene) => Promise<unknown>;
  readonly call: (trpc: Trpc, scene: Scene, api: Api) => Promise<unknown>;
};

/** A call over REST, whose problem becomes an outcome as those of tRPC do. */
const rest =
  (method: 'post' | 'patch' | 'delete', path: (scene: Scene) => string, body?: (scene: Scene) => object) =>
  async (_trpc: Trpc, scene: Scene, api: Api, key: Pick<AKey, 'secret'> = scene.rest): Promise<string> => {
    const answer = await api.as(key)[method](`/api/v1${path(scene)}`, body?.(scene) as never);
    return answer.status < 400 ? 'done' : answer.body.code;
  };

const rename = rest(
  'patch',
  ({ teamId }) => `/teams/${teamId}`,
  () => ({ name: 'Renamed' }),
);

const invite = rest(
  'post',
  ({ teamId }) => `/teams/${teamId}/invitations`,
  () => ({ email: 'new@example.com' }),
);

const CHANGES: readonly Change[] = [
  { name: 'updateTeam', call: rename },
  { name: 'updateTeam with a team key', call: (trpc, scene, api) => rename(trpc, scene, api, scene.teamKey) },
  {
    name: 'updateTeamDetails',
    call: (trpc, { teamId }) => trpc.teams.updateDetails.mutate({ teamId, description: 'New' }),
  },
  {
    name: 'removeTeamMember',
    call: rest('delete', ({ teamId, userId }) => `/teams/${teamId}/members/${userId}`),
  },
  {
    name: 'removeMemberWithInvitations',
    call: (trpc, { teamId, userId }) => trpc.members.removeWithInvitations.mutate({ teamId, userId }),
  },
  { name: 'createTeamInvitation', call: invite },
  {
    name: 'inviteWithLink',
    call: (trpc, { teamId }) => trpc.invitations.create.mutate({ teamId, email: 'new@example.com' }),
  },
  {
    name: 'resendInvitation',
    call: (trpc, { teamId, invitation }) => trpc.invitations.resend.mutate({ teamId, invitationId: invitation.id }),
  },
  {
    name: 'revokeTeamInvitation',
    call: rest('delete', ({ teamId, invitation }) => `/teams/${teamId}/invitations/${invitation.id}`),
  },
  {
    name: 'createApiKey for the team',
    call: rest(
      'post',
      () => '/api-keys',
      ({ teamId }) => ({ name: 'Late', scopes: ['teams:read'], teamId }),
    ),
  },
  {
    name: 'revokeKeyInTeam',
    call: (trpc, { teamId, key }) => trpc.apiKeys.revokeInTeam.mutate({ teamId, keyId: key.id }),
  },
  {
    name: 'createRole',
    call: (trpc, { teamId }) => trpc.roles.create.mutate({ teamId, name: 'Late', permissions: [] }),
  },
  {
    name: 'updateRole',
    call: (trpc, { teamId, roleId }) => trpc.roles.update.mutate({ teamId, roleId, name: 'Late' }),
  },
  {
    name: 'deleteRole',
    call: (trpc, { teamId, roleId }) => trpc.roles.delete.mutate({ teamId, roleId, replacementRoleId: 'guest' }),
  },
  {
    name: 'setMemberRole',
    call: (trpc, { teamId, userId, roleId }) => trpc.members.setRole.mutate({ teamId, userId, roleId }),
  },
  {
    name: 'activateMember',
    prepare: (api, { userId, teamId }) =>
      api.rows('update membership set is_active = false where account_id = $1 and team_id = $2', [userId, teamId]),
    call: (trpc, { teamId, userId }) => trpc.members.activate.mutate({ teamId, userId }),
  },
  { name: 'deactivateMember', call: (trpc, { teamId, userId }) => trpc.members.deactivate.mutate({ teamId, userId }) },
  {
    name: 'setMemberExpiry',
    call: (trpc, { teamId, userId }) =>
      trpc.members.setExpiry.mutate({ teamId, userId, expiresAt: inMinutes(9).toISOString() }),
  },
  {
    name: 'offerOwnership',
    by: 'owner',
    call: (trpc, { teamId, userId }) => trpc.teams.offerOwnership.mutate({ teamId, userId }),
  },
  {
    name: 'withdrawOwnershipOffer',
    by: 'owner',
    prepare: (api, { teamId, userId }) => anOffer(api, teamId, userId),
    call: (trpc, { teamId }) => trpc.teams.withdrawOwnershipOffer.mutate({ teamId }),
  },
  { name: 'deleteTeam', by: 'owner', call: (trpc, { teamId }) => trpc.teams.delete.mutate({ teamId }) },
  { name: 'leaveTeam', byAnyMember: true, call: (trpc, { teamId }) => trpc.teams.leave.mutate({ teamId }) },
  {
    name: 'acceptOwnership',
    byAnyMember: true,
    prepare: (api, { teamId, caller }) => anOffer(api, teamId, caller.id),
    call: (trpc, { teamId }) => trpc.teams.acceptOwnership.mutate({ teamId }),
  },
  {
    name: 'declineOwnership',
    byAnyMember: true,
    prepare: (api, { teamId, caller }) => anOffer(api, teamId, caller.id),
    call: (trpc, { teamId }) => trpc.teams.declineOwnership.mutate({ teamId }),
  },
];

const anOffer = (api: Api, teamId: string, nomineeId: string) =>
  api.rows(
    `insert into ownership_transfer (team_id, nominee_id, expires_at, created_at)
     values ($1, $2, now() + interval '1 day', now())`,
    [teamId, nomineeId],
  );

/**
 * Makes a change of the team wait for its lock, commits other statements meanwhile, and lets it go on.
 * @returns its outcome, and the state of the team when it went on and at the end
 */
async function whileWaiting(api: Api, { call, prepare, by }: Change, statements: (scene: Scene) => readonly string[]) {
  const scene = await aScene(api, by ?? 'admin');
  await prepare?.(api, scene);
  const other = new pg.Client({ connectionString: api.databaseUrl });
  await other.connect();
  try {
    await other.query('begin');
    await other.query('select from team where id = $1 for update', [scene.teamId]);
    const called = call(scene.trpc, scene, api);
    const outcome = settled(called);
    const waiting = `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
    await expect.poll(() => api.rows(waiting), { interval: 5 }).not.toEqual([]);
    for (const sql of statements(scene)) await other.query(sql);
    const rows: Api['rows'] = async (sql, values) => (await other.query(sql, [...(values ?? [])])).rows;
    const before = await stateOf({ rows }, scene.team);
    await other.query('commit');
    return { scene, outcome: await outcome, before, after: await stateOf(api, scene.team) };
  } finally {
    await other.end();
  }
}

const settled = async (call: Promise<unknown>): Promise<string> => {
  const outcome = await outcomeOf(call);
  return outcome === 'done' && typeof (await call) === 'string' ? String(await call) : outcome;
};

const demotion = ({ teamId, caller, heir }: Scene): string[] => [
  `update membership set role_id = 'guest' where team_id = '${teamId}' and account_id = '${caller.id}'`,
  // A team always has an owner.
  `update membership set role_id = 'owner' where team_id = '${teamId}' and account_id = '${heir.id}'
     and not exists (select from membership where team_id = '${teamId}' and role_id = 'owner')`,
];

const removal = (scene: Scene): string[] => [
  ...demotion(scene).slice(1),
  `delete from membership where team_id = '${scene.teamId}' and account_id = '${scene.caller.id}'`,
];

describe('a change of a team that waits for the lock of the team', () => {
  test.for(CHANGES.filter(({ byAnyMember }) => !byAnyMember))(
    '$name obeys a demotion of its caller meanwhile: 403, and nothing has changed',
    async (change, { api }) => {
      const { outcome, before, after } = await whileWaiting(api, change, demotion);

      expect(outcome).toBe('permission_missing');
      expect(after).toEqual(before);
    },
  );

  test.for(CHANGES)(
    '$name obeys a removal of its caller meanwhile: 404, and nothing has changed',
    async (change, { api }) => {
      const { outcome, before, after } = await whileWaiting(api, change, removal);

      expect(outcome).toBe('team_not_found');
      expect(after).toEqual(before);
    },
  );

  test.for(CHANGES)('$name detects that its caller was deactivated concurrently: 404', async (change, { api }) => {
    const { outcome } = await whileWaiting(api, change, ({ teamId, caller }) => [
      `update membership set is_active = false where team_id = '${teamId}' and account_id = '${caller.id}'`,
    ]);

    expect(outcome).toBe('team_not_found');
  });

  test.for(CHANGES)('$name detects that the team was deleted concurrently: 404', async (change, { api }) => {
    const { outcome } = await whileWaiting(api, change, ({ teamId }) => [`delete from team where id = '${teamId}'`]);

    expect(outcome).toBe('team_not_found');
  });

  test.for(CHANGES)(
    '$name finds out that its account was disabled meanwhile: 401, and nothing has changed',
    async (change, { api }) => {
      const { outcome, before, after } = await whileWaiting(api, change, ({ caller }) => [
        `update account set disabled_at = now() where id = '${caller.id}'`,
      ]);

      expect(outcome).toBe('credential_invalid');
      expect(after).toEqual(before);
    },
  );

  // Without this, the tests above would pass for changes that fail for another reason.
  test.for(CHANGES)('$name succeeds if nothing else changed concurrently', async (change, { api }) => {
    const { outcome, before, after } = await whileWaiting(api, change, () => []);

    expect(outcome).toBe('done');
    expect(after).not.toEqual(before);
  });
});

/** A credential, and the statement that ends it. */
type Ending = { readonly secret: string; readonly end: string };

const ENDINGS: readonly { readonly name: string; readonly make: (api: Api, scene: Scene) => Promise<Ending> }[] = [
  {
    name: 'an API key that expires',
    make: async (_api, { rest: { id, secret } }) => ({ secret, end: endOf('api_key', id) }),
  },
  {
    name: 'a team API key whose account is disabled',
    make: async (_api, { teamKey: { secret }, caller }) => ({
      secret,
      end: `update account set disabled_at = now() where id = '${caller.id}'`,
    }),
  },
  {
    name: 'an API key whose grant is revoked',
    make: async (api, { rest: { id, secret }, caller }) => {
      const grant = await api.aGrant(caller);
      await api.rows('update api_key set oauth_grant_id = $1 where id = $2', [grant.id, id]);
      return { secret, end: `update oauth_grant set revoked_at = now() where id = '${grant.id}'` };
    },
  },
  {
    name: 'a token whose grant is revoked',
    make: async (api, { caller }) => {
      const { id, secret } = await api.aGrant(caller, { scopes: SCOPES });
      return { secret, end: `update oauth_grant set revoked_at = now() where id = '${id}'` };
    },
  },
  {
    name: 'a token whose grant expires',
    make: async (api, { caller }) => {
      const { id, secret } = await api.aGrant(caller, { scopes: SCOPES });
      return { secret, end: endOf('oauth_grant', id) };
    },
  },
  {
    name: 'a token whose family ends',
    make: async (api, { caller }) => {
      const grant = await api.aGrant(caller, { scopes: SCOPES });
      const family = newId('family');
      await api.rows(
        `insert into oauth_token_family (id, account_id, client_id, grant_id, resource, scopes, created_at)
         select $1, account_id, client_id, id, 'api', scopes, now() from oauth_grant where id = $2`,
        [family, grant.id],
      );
      await api.rows('update oauth_token set family_id = $1 where grant_id = $2', [family, grant.id]);
      return { secret: grant.secret, end: `delete from oauth_token_family where id = '${family}'` };
    },
  },
];

const endOf = (table: string, id: string): string =>
  `update ${table} set expires_at = now() - interval '1 second' where id = '${id}'`;

describe.for(ENDINGS)('a change that waits for the lock of the team, by $name', ({ make }) => {
  test.for([
    { name: 'updateTeam', change: rename },
    { name: 'createTeamInvitation', change: invite },
  ])('$name is 401 if that was meanwhile, and nothing has changed', async ({ name, change }, { api }) => {
    let credential: Ending = { secret: '', end: '' };
    const prepare = async (_api: Api, scene: Scene) => (credential = await make(api, scene));
    const call: Change['call'] = (trpc, scene) => change(trpc, scene, api, credential);

    const { outcome, before, after } = await whileWaiting(api, { name, prepare, call }, () => [credential.end]);

    expect(outcome).toBe('credential_invalid');
    expect(after).toEqual(before);
  });

  test.for([
    { name: 'updateTeam', change: rename },
    { name: 'createTeamInvitation', change: invite },
  ])('$name is done if nothing was meanwhile', async ({ name, change }, { api }) => {
    let credential: Ending = { secret: '', end: '' };
    const prepare = async (_api: Api, scene: Scene) => (credential = await make(api, scene));
    const call: Change['call'] = (trpc, scene) => change(trpc, scene, api, credential);

    expect((await whileWaiting(api, { name, prepare, call }, () => [])).outcome).toBe('done');
  });
});

describe('granting a role', () => {
  const fewer = ({ adminRole }: Scene): string[] => [
    `update role set permissions = '{access_dashboard,invite_members,edit_team_settings}' where id = '${adminRole}'`,
  ];
  const powerful = (api: Api, scene: Scene) =>
    api.rows(`update role set permissions = '{access_billing}' where id = $1`, [scene.roleId]);

  test.for<Change>([
    {
      name: 'createTeamInvitation',
      call: rest(
        'post',
        ({ teamId }) => `/teams/${teamId}/invitations`,
        ({ roleId }) => ({ email: 'new@example.com', roleId, isSystemRole: false }),
      ),
    },
    {
      name: 'inviteWithLink',
      call: (trpc, { teamId, roleId }) =>
        trpc.invitations.create.mutate({ teamId, email: 'new@example.com', roleId, isSystemRole: false }),
    },
    {
      name: 'resendInvitation',
      prepare: (api, { roleId, invitation }) =>
        api.rows('update invitation set role_id = $1 where id = $2', [roleId, invitation.id]),
      call: (trpc, { teamId, invitation }) => trpc.invitations.resend.mutate({ teamId, invitationId: invitation.id }),
    },
    {
      name: 'setMemberRole',
      call: (trpc, { teamId, userId, roleId }) => trpc.members.setRole.mutate({ teamId, userId, roleId }),
    },
    {
      name: 'createRole',
      call: (trpc, { teamId }) => trpc.roles.create.mutate({ teamId, name: 'Late', permissions: ['access_billing'] }),
    },
    {
      name: 'updateRole',
      call: (trpc, { teamId, roleId }) => trpc.roles.update.mutate({ teamId, roleId, name: 'Late' }),
    },
  ])('$name is limited to the permissions that the caller holds under the lock', async (change, { api }) => {
    const prepare = async (given: Api, scene: Scene) => {
      await powerful(given, scene);
      await change.prepare?.(given, scene);
    };

    const { outcome, before, after } = await whileWaiting(api, { ...change, prepare }, fewer);

    expect(outcome).toBe('role_not_assignable');
    expect(after).toEqual(before);
  });
});
