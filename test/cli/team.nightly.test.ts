import { describe, expect, test } from 'vitest';
import { createRole } from '../../src/resources/roles/roles.service.ts';
import { addMember, setMember, type MembershipTerms } from '../../src/resources/members/members.service.ts';
import { anId, anInstant, rosterOfItsOwn } from './roster.ts';

const roster = await rosterOfItsOwn();

const PAST = '2020-01-01T00:00:00+02:00';

async function aTeam() {
  const [owner, person] = await Promise.all([roster.account(), roster.account()]);
  return { owner, person, team: await roster.team(owner) };
}

const aRole = (team: { id: string }) => createRole(roster.db, 'system', team.id, { name: 'Helper', permissions: [] });

const memberships = (team: { id: string }) =>
  roster.rows<{ role_id: string }>(
    'select account_id, role_id, is_active, expires_at from membership where team_id = $1 order by id',
    [team.id],
  );

/** The notices about a team that are queued. */
const noticesTo = (team: { id: string }) =>
  roster.rows(
    `select payload->>'kind' as kind, payload->>'thing' as thing from graphile_worker._private_jobs
     where payload->>'teamId' = $1`,
    [team.id],
  );

describe('team create', () => {
  test('prints the team as its owner sees it, on the plan that is named', async () => {
    const owner = await roster.account();

    const team = await roster.json<{ id: string }>(
      'team',
      'create',
      '--owner',
      owner.email.toLowerCase(),
      '--name',
      'Café Nord',
      '--plan',
      'pro',
    );

    expect(team).toEqual({
      id: anId('team'),
      name: 'Café Nord',
      slug: 'cafe-nord',
      description: null,
      avatarUrl: null,
      role: { id: 'owner', name: 'Owner' },
    });
    expect(await memberships(team)).toMatchObject([{ account_id: owner.id, role_id: 'owner' }]);
    expect(await roster.rows('select plan_id from subscription where team_id = $1', [team.id])).toEqual([
      { plan_id: 'pro' },
    ]);
  });

  test('rejects an unknown owner and an unknown plan, and creates no team', async () => {
    const { email } = await roster.account();

    const [owner, plan] = await Promise.all([
      roster.refusal('team', 'create', '--owner', 'nobody@example.com', '--name', 'Ghost'),
      roster.refusal('team', 'create', '--owner', email, '--name', 'Ghost', '--plan', 'gold'),
    ]);

    expect(owner).toBe('--owner: no account has the email address nobody@example.com');
    expect(plan).toBe('--plan: There is no plan gold; the plans are free, pro.');
    expect(await roster.rows(`select id from team where name = 'Ghost'`)).toEqual([]);
  });

  test('rejects a disabled owner, as do transfers and new members', async () => {
    const [{ team }, { id, email }] = await Promise.all([aTeam(), roster.account()]);
    await roster.rows('update account set disabled_at = now() where id = $1', [id]);

    const lines = await Promise.all([
      roster.refusal('team', 'create', '--owner', email, '--name', 'Late'),
      roster.refusal('team', 'transfer', '--team', team.id, '--email', email),
      roster.refusal('member', 'add', '--team', team.id, '--email', email),
    ]);

    expect(lines).toEqual(['--owner', '--email', '--email'].map((option) => `${option}: The account is disabled.`));
    expect(await roster.rows('select id from membership where account_id = $1', [id])).toEqual([]);
  });

  test('rejects an owner whose email address is not verified, as do transfers', async () => {
    const [{ team }, { id, email }] = await Promise.all([aTeam(), roster.account()]);
    await roster.rows('update account set email_verified_at = null where id = $1', [id]);

    const lines = await Promise.all([
      roster.refusal('team', 'create', '--owner', email, '--name', 'Unproven'),
      roster.refusal('team', 'transfer', '--team', team.id, '--email', email),
    ]);

    expect(lines).toEqual(
      ['--owner', '--email'].map((option) => `${option}: The email address of the new owner is not verified.`),
    );
    expect(await roster.rows('select id from membership where account_id = $1', [id])).toEqual([]);
  });
});

describe('role create', () => {
  test('prints the role with its permissions in the order of the catalogue', async () => {
    const { team } = await aTeam();
    const create = (...args: string[]) => ['role', 'create', '--team', team.id, ...args];

    const role = await roster.json(...create('--name', 'Helper', '--permissions', 'invite_members,access_dashboard'));

    expect(role).toEqual({
      roleId: anId('role'),
      name: 'Helper',
      isSystemRole: false,
      permissions: ['access_dashboard', 'invite_members'],
      productPermissions: [],
    });
    // A role that gives access to others is told to the owner, as one that a member makes.
    expect(await noticesTo(team)).toEqual([{ kind: 'role_widened', thing: 'Helper' }]);
    await roster.json(...create('--name', 'Reader', '--permissions', 'access_dashboard'));
    expect(await noticesTo(team)).toHaveLength(1);
    const [taken, unknown, nowhere] = await Promise.all([
      roster.refusal(...create('--name', 'HELPER', '--permissions', '')),
      roster.refusal(...create('--name', 'Other', '--permissions', 'access_dashboard,fly')),
      roster.refusal('role', 'create', '--team', 'team_none', '--name', 'Other', '--permissions', ''),
    ]);
    expect(taken).toBe('--name: The team already has a role whose name looks like this one.');
    expect(unknown).toMatch(
      /--permissions.*There is no permission fly; the permissions are edit_team_settings, access_dashboard/,
    );
    expect(nowhere).toBe('--team: Team not found.');
  });
});

describe('member add', () => {
  test('prints the member', async () => {
    const { team, person } = await aTeam();

    const member = await roster.json('member', 'add', '--team', team.id, '--email', person.email.toUpperCase());

    expect(member).toEqual({
      membershipId: anId('mem'),
      accountId: person.id,
      userId: person.id,
      email: person.email,
      firstName: null,
      lastName: null,
      avatar: null,
      roleId: 'member',
      roleName: 'Member',
      isSystemRole: true,
      isActive: true,
      joinedAt: anInstant,
    });
    expect(await roster.refusal('member', 'add', '--team', team.id, '--email', person.email)).toBe(
      '--email: The account is already a member of this team.',
    );
  });

  test('takes a role of the team, inactive and expired ones too', async () => {
    const [{ team, person }, other] = await Promise.all([aTeam(), roster.account()]);
    const role = await aRole(team);

    const [inactive, expired] = await Promise.all([
      roster.json('member', 'add', '--team', team.id, '--email', person.email, '--role', role.id, '--inactive'),
      roster.json('member', 'add', '--team', team.id, '--email', other.email, '--expires-at', PAST),
    ]);

    expect(inactive).toMatchObject({ roleId: role.id, roleName: 'Helper', isSystemRole: false, isActive: false });
    expect(expired).toMatchObject({ roleId: 'member', isActive: false });
  });

  test('rejects a second owner, a role of another team and unknown ids', async () => {
    const [{ team, person }, elsewhere] = await Promise.all([aTeam(), aTeam()]);
    const foreign = await aRole(elsewhere.team);
    const add = (teamId: string, email: string, ...rest: string[]) =>
      roster.refusal('member', 'add', '--team', teamId, '--email', email, ...rest);

    const lines = await Promise.all([
      add(team.id, person.email, '--role', 'owner'),
      add(team.id, person.email, '--role', foreign.id),
      add(team.id, person.email, '--expires-at', '2030-01-01T00:00:00'),
    ]);

    expect(lines).toEqual([
      '--role: A team has exactly one owner. Transfer the team instead.',
      '--role: The team has no role with this id.',
      expect.stringMatching(/--expires-at.*instant with a time zone/),
    ]);
    expect(await memberships(team)).toHaveLength(1);
  });
});

describe('member set', () => {
  test('changes what is named and leaves the rest', async () => {
    const { team, person } = await aTeam();
    const named = ['--team', team.id, '--email', person.email];
    await addMember(roster.db, 'system', team.id, person.id, { roleId: 'guest' });

    expect(await roster.json('member', 'set', ...named, '--expires-at', PAST)).toMatchObject({
      roleId: 'guest',
      isActive: false,
    });
    expect(await roster.json('member', 'set', ...named, '--role', 'member')).toMatchObject({
      roleId: 'member',
      isActive: false,
    });
    expect(await roster.json('member', 'set', ...named, '--expires-at', 'never', '--active')).toMatchObject({
      roleId: 'member',
      isActive: true,
    });
    expect(await roster.json('member', 'set', ...named, '--inactive')).toMatchObject({
      roleId: 'member',
      isActive: false,
    });
  });

  // Guarantees that a team always has exactly one owner, who can act.
  test('rejects whatever would leave the team without an owner, or with two', async () => {
    const { team, owner, person } = await aTeam();
    await addMember(roster.db, 'system', team.id, person.id, {});
    const before = await memberships(team);
    const set = (account: { id: string }, terms: MembershipTerms) =>
      setMember(roster.db, 'system', team.id, account.id, terms);

    await expect(set(owner, { roleId: 'member' })).rejects.toMatchObject({ problem: 'owner_not_removable' });
    await expect(set(owner, { isActive: false })).rejects.toMatchObject({ problem: 'owner_not_removable' });
    await expect(set(owner, { expiresAt: new Date('2099-01-01') })).rejects.toMatchObject({
      problem: 'owner_not_removable',
    });
    await expect(set(person, { roleId: 'owner' })).rejects.toMatchObject({ problem: 'role_not_assignable' });
    expect(await roster.refusal('member', 'set', '--team', team.id, '--email', owner.email, '--role', 'guest')).toBe(
      'The owner cannot get another role. Transfer the team first.',
    );
    expect(await memberships(team)).toEqual(before);
  });

  test('rejects an account that is no member, no change at all, and contradicting changes', async () => {
    const { team, person } = await aTeam();
    const named = ['--team', team.id, '--email', person.email];

    const lines = await Promise.all([
      roster.refusal('member', 'set', ...named, '--inactive'),
      roster.refusal('member', 'set', ...named),
      roster.refusal('member', 'set', ...named, '--active', '--inactive'),
    ]);

    expect(lines).toEqual([
      '--email: Member not found.',
      'name a change: --role, --active, --inactive or --expires-at',
      "option '--active' cannot be used with option '--inactive'",
    ]);
  });
});

describe('metadata', () => {
  test('is shown, and changed by merge patches, of a team, an account and a membership', async () => {
    const { owner, person, team } = await aTeam();
    await addMember(roster.db, 'system', team.id, person.id, {});
    const of = {
      team: ['team', 'metadata', '--team', team.id],
      account: ['account', 'metadata', '--email', owner.email],
      membership: ['member', 'metadata', '--team', team.id, '--email', person.email],
    };
    for (const args of Object.values(of)) {
      expect(await roster.json(...args)).toEqual({ public: {}, private: {}, version: 0 });
      expect(await roster.json(...args, '--public', '{"a":{"b":1,"c":2}}', '--private', '{"d":true}')).toEqual({
        public: { a: { b: 1, c: 2 } },
        private: { d: true },
        version: 1,
      });
      const changed = { public: { a: { c: 2 } }, private: {}, version: 2 };
      expect(
        await roster.json(...args, '--public', '{"a":{"b":null}}', '--private', 'null', '--if-version', '1'),
      ).toEqual(changed);
      expect(await roster.refusal(...args, '--public', '{}', '--if-version', '1')).toContain('version 2');
      expect(await roster.json(...args)).toEqual(changed);
    }
  });

  test.for([
    ['{', 'It must be JSON.'],
    ['[]', 'It must be a JSON object of valid text.'],
    ['{"a":1e999}', '/a: JSON numbers are read'],
    ['{"__proto__":1}', '/__proto__: No member can have this name.'],
  ])('%s is rejected', async ([patch = '', reason]) => {
    const { team } = await aTeam();
    expect(await roster.refusal('team', 'metadata', '--team', team.id, '--public', patch)).toContain(reason);
  });
});
