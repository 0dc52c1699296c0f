import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { disableAccount, enableAccount } from '../../src/resources/accounts/accounts.service.ts';
import { deleteAccount } from '../../src/resources/accounts/deletion.service.ts';
import { removeMember, setMember } from '../../src/resources/members/members.service.ts';
import { transferOwnership } from '../../src/resources/teams/ownership.service.ts';
import { SCOPES } from '../../src/entities/index.ts';
import { isAccountOnly } from '../../src/auth/scopes.ts';
import { test, type Api } from '../support/api.ts';
import { aLink, as, inMinutes, memberships, outcomeOf, withKey, type Trpc } from './console.ts';
import { anAddress } from './people.ts';

/** A team, a member who invites to a privileged role and to another, and the links of both invitations. */
async function aScene(api: Api) {
  const owner = await api.anAccount();
  const team = await api.aTeam({ owner });
  await api.aSubscription(team);
  const sender = await api.anAccount();
  const granted = await api.aRole(team, ['invite_members']);
  const own = await api.aRole(team, ['invite_members', 'edit_team_settings', 'access_dashboard', 'remove_members']);
  await api.aMember(team, sender, { role: own.id });
  const [owners, senders] = [await as(api, owner), await as(api, sender)];
  const invite = async (role: { id: string }, by: Trpc = senders) => {
    const email = anAddress();
    const { invitation } = await by.invitations.create.mutate({
      teamId: team.id,
      email,
      roleId: role.id,
      isSystemRole: role.id === 'member',
    });
    return { ...invitation, token: await aLink(api, invitation) };
  };
  const [privileged, plain] = [await invite(granted), await invite({ id: 'member' })];
  return { api, owner, team, teamId: team.id, sender, granted, own, owners, senders, invite, privileged, plain };
}

type Scene = Awaited<ReturnType<typeof aScene>>;
type Invited = Scene['privileged'];

/** What becomes of an invitation when the person who was invited opens it. */
async function accepted(api: Api, { email, token }: Invited): Promise<string> {
  const [known] = await api.rows<{ id: string }>('select id from account where email = $1', [email]);
  const guest = await as(api, known ?? (await api.anAccount({ email })));
  return outcomeOf(guest.invitations.accept.mutate({ token }));
}

const taken = async ({ owners, teamId }: Scene) => (await owners.teams.overview.query({ teamId })).taken;

const remains = async ({ api }: Scene, { id }: Invited) =>
  (await api.rows('select 1 from invitation where id = $1', [id])).length > 0;

/** Every way in which a member loses what an invitation of theirs gives. */
const ENDS: readonly (readonly [what: string, end: (scene: Scene) => Promise<unknown>])[] = [
  ['removal', ({ owners, teamId, sender }) => owners.removeTeamMember.mutate({ teamId, userId: sender.id })],
  ['removal by the operator', ({ api, teamId, sender }) => removeMember(api.services.db, 'system', teamId, sender.id)],
  ['leaving', ({ senders, teamId }) => senders.teams.leave.mutate({ teamId })],
  ['deactivation', ({ owners, teamId, sender }) => owners.members.deactivate.mutate({ teamId, userId: sender.id })],
  [
    'deactivation by the operator',
    ({ api, teamId, sender }) => setMember(api.services.db, 'system', teamId, sender.id, { isActive: false }),
  ],
  [
    'demotion',
    ({ owners, teamId, sender }) => owners.members.setRole.mutate({ teamId, userId: sender.id, roleId: 'member' }),
  ],
  [
    'demotion by the operator',
    ({ api, teamId, sender }) => setMember(api.services.db, 'system', teamId, sender.id, { roleId: 'member' }),
  ],
  [
    'a permission that their role loses',
    ({ owners, teamId, own }) =>
      owners.roles.update.mutate({ teamId, roleId: own.id, permissions: ['remove_members'] }),
  ],
  [
    'the replacement of their role',
    ({ owners, teamId, own }) => owners.roles.delete.mutate({ teamId, roleId: own.id, replacementRoleId: 'member' }),
  ],
  [
    'permissions that the granted role gets, and they do not have',
    ({ owners, teamId, granted }) =>
      owners.roles.update.mutate({ teamId, roleId: granted.id, permissions: ['invite_members', 'manage_api_keys'] }),
  ],
  ['disabling of their account', ({ api, sender }) => disableAccount(api.services.db, 'system', sender.id)],
  ['deletion of their account', ({ api, sender }) => deleteAccount(api.services.db, 'system', sender.id)],
];

describe('an invitation to a privileged role', () => {
  test.for(ENDS)(
    'ends with its sender’s ability to send it, in the same transaction, by %s; others stay',
    async ([, end], { api }) => {
      const scene = await aScene(api);
      const sweep = await scene.invite(scene.granted);
      const others = await scene.invite({ id: 'member' }, scene.owners);
      const byOwner = await scene.invite(await api.aRole(scene.team, ['manage_api_keys']), scene.owners);

      await end(scene);

      expect(await Promise.all([scene.privileged, sweep].map((invited) => remains(scene, invited)))).toEqual([
        false,
        false,
      ]);
      const revoked = await api.rows<{ target_id: string; reason: string }>(
        `select target_id, details->>'reason' as reason from audit_event
       where event = 'invitation.revoked' and team_id = $1 order by target_id`,
        [scene.teamId],
      );
      expect(revoked.map(({ target_id }) => target_id)).toEqual([scene.privileged.id, sweep.id].toSorted());
      expect(new Set(revoked.map(({ reason }) => reason)).size).toBe(1);
      expect(await accepted(api, scene.privileged)).toBe('link_invalid');
      for (const staying of [scene.plain, others, byOwner]) expect(await accepted(api, staying)).toBe('done');
    },
  );

  test('ends with its sender’s ownership, given away by them or by the operator', async ({ api }) => {
    for (const by of ['owner', 'operator'] as const) {
      const scene = await aScene(api);
      const { api: _, owner, owners, senders, sender, teamId } = scene;
      const invited = await scene.invite(scene.granted, owners);
      if (by === 'operator') await transferOwnership(api.services.db, 'system', teamId, sender.id);
      else {
        await owners.teams.offerOwnership.mutate({ teamId, userId: sender.id });
        await senders.teams.acceptOwnership.mutate({ teamId });
      }

      expect((await memberships(api, scene.team)).find(({ account_id }) => account_id === owner.id)).toMatchObject({
        role_id: 'member',
      });
      expect([await remains(scene, invited), await remains(scene, scene.privileged)]).toEqual([false, true]);
    }
  });

  test.for([
    ['expired', `update membership set expires_at = now() - interval '1 ms' where team_id = $1 and account_id = $2`],
    ['has a disabled account', `update account set disabled_at = now() where $1 <> '' and id = $2`],
  ])('is like a revoked one while its sender %s', async ([, sql = ''], { api }) => {
    const scene = await aScene(api);
    const before = await taken(scene);
    await api.rows(sql, [scene.teamId, scene.sender.id]);
    // The sender's own seat counts until the membership has expired.
    const seats = sql.includes('membership') ? 2 : 1;

    expect(await taken(scene)).toBe(before - seats);
    expect((await scene.owners.listTeamInvitations.query({ teamId: scene.teamId })).map(({ id }) => id)).toEqual([
      scene.plain.id,
    ]);
    expect(await accepted(api, scene.privileged)).toBe('link_invalid');
    expect(
      await outcomeOf(
        scene.owners.invitations.resend.mutate({ teamId: scene.teamId, invitationId: scene.privileged.id }),
      ),
    ).toBe('invitation_not_found');
    expect(await accepted(api, scene.plain)).toBe('done');
  });

  test('does not come back with the membership of its sender', async ({ api }) => {
    const back: readonly ((scene: Scene) => Promise<unknown>)[] = [
      ({ owners, teamId, sender }) => owners.members.setExpiry.mutate({ teamId, userId: sender.id, expiresAt: null }),
      ({ owners, teamId, sender }) => owners.members.activate.mutate({ teamId, userId: sender.id }),
      ({ teamId, sender }) => setMember(api.services.db, 'system', teamId, sender.id, { expiresAt: null }),
      ({ teamId, sender }) => transferOwnership(api.services.db, 'system', teamId, sender.id),
      async ({ owners, teamId, sender, own, senders }) => {
        const { invitation } = await owners.invitations.create.mutate({
          teamId,
          email: sender.email,
          roleId: own.id,
          isSystemRole: false,
        });
        await senders.invitations.accept.mutate({ token: await aLink(api, invitation) });
      },
    ];
    for (const revive of back) {
      const scene = await aScene(api);
      await api.rows(`update membership set expires_at = now() - interval '1 ms' where account_id = $1`, [
        scene.sender.id,
      ]);
      await revive(scene);

      const { teamId, sender } = scene;
      const [member] = (await scene.owners.listTeamMembers.query({ teamId })).filter(
        ({ userId }) => userId === sender.id,
      );
      expect(member).toMatchObject({ isActive: true });
      expect([await remains(scene, scene.privileged), await remains(scene, scene.plain)]).toEqual([false, true]);
    }
  });

  test.for(['key', 'grant'] as const)('that a %s sent is its account’s', async (kind, { api }) => {
    const scene = await aScene(api);
    const { team, teamId, sender, owners } = scene;
    const scopes = SCOPES.filter((scope) => !isAccountOnly(scope));
    const credential = kind === 'key' ? api.anApiKey(sender, { scopes, team }) : api.aGrant(sender, { scopes, team });
    const invited = await scene.invite(scene.granted, withKey(api, await credential));
    expect(await remains(scene, invited)).toBe(true);

    await owners.members.deactivate.mutate({ teamId, userId: sender.id });

    expect(await remains(scene, invited)).toBe(false);
  });

  // Guarantees that a role is not given later in the name of somebody who could not give it any more.
  const GONE: typeof ENDS = [
    ['removed', ENDS[0]![1]],
    ['deleted by themselves', ({ senders }) => senders.account.delete.mutate()],
    ['deleted by the operator', ({ api, sender }) => deleteAccount(api.services.db, 'system', sender.id)],
  ];
  describe.each(GONE)('to a role that becomes privileged after its sender was %s', (_what, end) => {
    const invited = async (api: Api) => {
      const scene = await aScene(api);
      const role = await api.aRole(scene.team, ['access_dashboard']);
      const invitation = await scene.invite(role);
      await end(scene);
      expect(await remains(scene, invitation)).toBe(true);
      return { scene, role, invitation };
    };

    test('ends, with its seat', async ({ api }) => {
      const { scene, role, invitation } = await invited(api);
      const { owners, teamId } = scene;
      const before = await taken(scene);

      await owners.roles.update.mutate({
        teamId,
        roleId: role.id,
        permissions: ['access_dashboard', 'invite_members'],
      });

      expect([await remains(scene, invitation), await taken(scene)]).toEqual([false, before - 1]);
      expect(await accepted(api, invitation)).toBe('link_invalid');
      expect(await accepted(api, scene.plain)).toBe('done');
    });

    test('is not accepted either if that happens while the acceptance waits', async ({ api }) => {
      const { scene, role, invitation } = await invited(api);
      const em = api.services.db.orm.em.fork();
      await em.begin();
      await em.execute('select id from team where id = ? for update', [scene.teamId]);
      const outcome = accepted(api, invitation);
      const waiting = `select 1 from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock' and query like '%team%'`;
      await expect.poll(() => api.rows(waiting)).not.toEqual([]);
      await em.execute(`update role set permissions = '{invite_members}' where id = ?`, [role.id]);
      await em.commit();

      expect(await outcome).toBe('link_invalid');
      expect(
        await api.rows('select 1 from membership where team_id = $1 and role_id = $2', [scene.teamId, role.id]),
      ).toEqual([]);
    });
  });

  test('without a sender is the operator’s and stays; renewed by another, it is the other’s', async ({ api }) => {
    const scene = await aScene(api);
    const { teamId, owners, sender, privileged } = scene;
    const operators = await api.anInvitation(scene.team, { role: scene.granted.id });
    await owners.invitations.resend.mutate({ teamId, invitationId: privileged.id });

    await owners.removeTeamMember.mutate({ teamId, userId: sender.id });

    expect(await accepted(api, { ...privileged, ...operators, token: await aLink(api, operators) })).toBe('done');
    expect(await accepted(api, privileged)).toBe('done');
  });

  test('that ended is replaced by a new one to the same address, with the seat that is free', async ({ api }) => {
    const scene = await aScene(api);
    const { teamId, owners, sender, privileged } = scene;
    await api.rows(`update membership set expires_at = now() - interval '1 ms' where account_id = $1`, [sender.id]);
    const before = await taken(scene);
    const again = { teamId, email: privileged.email };

    await owners.createTeamInvitation.mutate(again);

    // A copy that is kept by events would keep it as a pending one.
    expect(
      await api.rows(
        `select event, target_id = $2 as is_of_first from audit_event
         where team_id = $1 and event like 'invitation.%' order by id desc limit 2`,
        [teamId, privileged.id],
      ),
    ).toEqual([
      { event: 'invitation.created', is_of_first: false },
      { event: 'invitation.revoked', is_of_first: true },
    ]);
    expect(await taken(scene)).toBe(before + 1);
    expect(await accepted(api, privileged)).toBe('link_invalid');
  });
});

test('a disabled sender is enabled again without the invitations that ended, and with their keys', async ({ api }) => {
  const scene = await aScene(api);
  const key = await api.anApiKey(scene.sender, { team: scene.team, scopes: ['members:read'] });
  const before = await taken(scene);

  await disableAccount(api.services.db, 'system', scene.sender.id);
  await enableAccount(api.services.db, 'system', scene.sender.id);

  expect(await taken(scene)).toBe(before - 1);
  expect(await accepted(api, scene.privileged)).toBe('link_invalid');
  expect(await outcomeOf(withKey(api, key).getCredential.query())).toBe('done');
});

describe('members.removeWithInvitations', () => {
  test('ends all invitations of the member with the membership, and no others', async ({ api }) => {
    const scene = await aScene(api);
    const { owners, team, teamId, sender, privileged, plain } = scene;
    const elsewhere = await api.aTeam({ owner: await api.anAccount() });
    const [byOwner, ofOperator, ofOtherTeam] = [
      await scene.invite({ id: 'member' }, owners),
      await api.anInvitation(team),
      await api.anInvitation(elsewhere),
    ];
    await api.rows('update invitation set invited_by_id = $2 where id = $1', [ofOtherTeam.id, sender.id]);
    const before = await taken(scene);

    await owners.members.removeWithInvitations.mutate({ teamId, userId: sender.id });

    expect(await taken(scene)).toBe(before - 3);
    const rows = await api.rows<{ id: string }>('select id from invitation where team_id in ($1, $2) order by id', [
      teamId,
      elsewhere.id,
    ]);
    expect(rows.map(({ id }) => id)).toEqual([byOwner.id, ofOperator.id, ofOtherTeam.id].toSorted());
    const revoked = await api.rows(
      `select target_id, details->>'reason' as reason from audit_event where event = 'invitation.revoked' and team_id = $1`,
      [teamId],
    );
    expect(revoked).toHaveLength(2);
    expect(revoked).toEqual(
      expect.arrayContaining([
        { target_id: privileged.id, reason: 'its sender can no longer send it' },
        { target_id: plain.id, reason: 'membership ended' },
      ]),
    );
  });

  test('changes nothing for who cannot revoke invitations', async ({ api }) => {
    const scene = await aScene(api);
    const remover = await api.anAccount();
    await api.aMember(scene.team, remover, { role: (await api.aRole(scene.team, ['remove_members'])).id });
    const { members } = await as(api, remover);
    const input = { teamId: scene.teamId, userId: scene.sender.id };

    expect(await outcomeOf(members.removeWithInvitations.mutate(input))).toBe('permission_missing');

    expect([await remains(scene, scene.privileged), await remains(scene, scene.plain)]).toEqual([true, true]);
    expect(await memberships(api, scene.team)).toHaveLength(3);
  });
});

test('the preview of a removal lists the invitations that end and those that stay, with addresses for who can invite', async ({
  api,
}) => {
  const scene = await aScene(api);
  const { owners, team, teamId, sender, privileged, plain, granted } = scene;
  await scene.invite(granted, owners);
  const remover = await api.anAccount();
  await api.aMember(team, remover, { role: (await api.aRole(team, ['remove_members'])).id });
  const preview = async (trpc: Trpc) =>
    (await trpc.members.removalPreview.query({ teamId, userId: sender.id })).invitations;

  const [ending, staying] = [
    { id: privileged.id, roleName: granted.id, isEnding: true },
    { id: plain.id, roleName: 'Member', isEnding: false },
  ];
  expect(await preview(owners)).toEqual([
    { ...ending, email: privileged.email },
    { ...staying, email: plain.email },
  ]);
  expect(await preview(await as(api, remover))).toEqual([
    { ...ending, email: null },
    { ...staying, email: null },
  ]);
});

/** What changes memberships or the permissions of roles, and cannot take any from a sender. */
const GIVES_ONLY: Readonly<Record<string, string>> = {
  'resources/teams/teams.service.ts': 'creates a team with its owner',
  'resources/imports/memberships.ts': 'adds memberships',
  'resources/imports/teams.ts': 'creates teams with their owners',
  'demo/seed.ts': 'creates demo data',
  'resources/accounts/deletion.service.ts': 'deletes what the account has sent, in all teams',
  'resources/teams/leave-and-delete.service.ts': 'deletes the team with its invitations, or ends a membership',
};

// Guarantees that the next change of memberships ends invitations too.
test('every file that changes memberships or roles ends the invitations of those who lose permissions', () => {
  const SRC = join(import.meta.dirname, '../../src');
  const changes =
    /(?:create|nativeUpdate|nativeDelete|nativeInsert|assign)\((?:Membership|membership|tx, Membership)\b|(?:update|into|delete from) "?membership\b|membership\.(?:role|isActive|expiresAt) =|role\.permissions =|'membership',\s*COLUMNS/;
  const changing = globSync('**/*.ts', { cwd: SRC, exclude: ['web/**'] }).filter((file) =>
    changes.test(readFileSync(join(SRC, file), 'utf8')),
  );

  expect(changing.length).toBeGreaterThan(7);
  const stray = changing.filter(
    (file) =>
      !(file in GIVES_ONLY) &&
      !/end(?:Abandoned(?:In|Invitations)|Invitations)\(/.test(readFileSync(join(SRC, file), 'utf8')),
  );
  expect(stray).toEqual([]);
});

describe('accepting an invitation with an expired membership', () => {
  async function anExpired(api: Api) {
    const owner = await api.anAccount();
    const [team, other] = [await api.aTeam({ owner }), await api.aTeam({ owner })];
    const member = await api.anAccount();
    for (const each of [team, other]) await api.aMember(each, member, { role: 'member', expiresAt: inMinutes(-1) });
    const scopes = ['members:read'] as const;
    const old = [await api.anApiKey(member, { team, scopes }), await api.aGrant(member, { team, scopes })];
    const kept = [await api.anApiKey(member, { scopes }), await api.anApiKey(owner, { team, scopes })];
    const invitation = await api.anInvitation(team, { email: member.email, role: 'guest' });
    const token = await aLink(api, invitation);
    return { owner, team, other, member, old, kept, token, trpc: await as(api, member) };
  }

  test('starts anew: with the new role, without the keys and grants from before', async ({ api }) => {
    const { team, member, old, kept, token, trpc } = await anExpired(api);

    await trpc.invitations.accept.mutate({ token });

    expect((await memberships(api, team)).find(({ account_id }) => account_id === member.id)).toMatchObject({
      role_id: 'guest',
      is_active: true,
      expires_at: null,
    });
    const outcomes = (keys: typeof old) =>
      Promise.all(keys.map((key) => outcomeOf(withKey(api, key).getCredential.query())));
    expect(await outcomes(old)).toEqual(['credential_invalid', 'credential_invalid']);
    expect(await outcomes(kept)).toEqual(['done', 'done']);
    const revoked = await api.rows(
      `select event from audit_event where team_id = $1 and details->>'reason' = 'membership started anew' order by event`,
      [team.id],
    );
    expect(revoked).toEqual([{ event: 'api_key.revoked' }, { event: 'oauth_grant.revoked' }]);
  });

  test('takes no further seat, however many are taken; reactivation by a member needs one, and keeps the keys', async ({
    api,
  }) => {
    const { owner, team, member, old, token, trpc } = await anExpired(api);
    const { members } = await as(api, owner);
    for (let i = 0; i < 6; i += 1) await api.anInvitation(team);
    const reactivate = () => outcomeOf(members.activate.mutate({ teamId: team.id, userId: member.id }));

    expect(await reactivate()).toBe('seat_limit_reached');
    expect(await outcomeOf(trpc.invitations.accept.mutate({ token }))).toBe('done');
    await api.rows(
      `update membership set expires_at = now() - interval '1 ms' where team_id = $1 and account_id = $2`,
      [team.id, member.id],
    );
    await api.rows('delete from invitation where team_id = $1 and accepted_at is null', [team.id]);
    const key = await api.anApiKey(member, { team, scopes: ['members:read'] });
    expect(await reactivate()).toBe('done');
    expect(await outcomeOf(withKey(api, key).getCredential.query())).toBe('done');
    expect(old).toHaveLength(2);
  });

  test('of an inactive member changes nothing: they stay inactive, with their keys', async ({ api }) => {
    const { team, member, old, token, trpc } = await anExpired(api);
    await api.rows('update membership set is_active = false where team_id = $1 and account_id = $2', [
      team.id,
      member.id,
    ]);

    expect(await outcomeOf(trpc.invitations.accept.mutate({ token }))).toBe('done');

    expect((await memberships(api, team)).find(({ account_id }) => account_id === member.id)).toMatchObject({
      role_id: 'member',
      is_active: false,
    });
    for (const key of old) expect(await outcomeOf(withKey(api, key).getCredential.query())).toBe('done');
  });
});
