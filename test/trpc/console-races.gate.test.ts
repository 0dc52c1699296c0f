import pg from 'pg';
import { describe, expect, onTestFinished, test as base } from 'vitest';
import { startApi, type Api } from '../support/api.ts';
import { signedIn } from '../support/browser.ts';
import { createTestDatabase } from '../support/database.ts';
import { anyOf as choose, randomOf } from '../support/random.ts';
import {
  aLink,
  anInvitationWithLink,
  inMinutes,
  memberships,
  membershipOf,
  outcomeOf,
  ownersOf,
  tally,
  type Trpc,
} from './console.ts';

type Replicas = Api & { readonly other: Api };

/** Two instances on one database, which is looked at when both are closed: then the server has counted everything. */
const test = base.extend<{ api: Replicas }>({
  api: [
    // eslint-disable-next-line no-empty-pattern -- vitest reads the pattern to know what a fixture needs
    async ({}, use) => {
      const database = await createTestDatabase();
      const one = await startApi({}, { databaseUrl: database.url });
      const other = await startApi({}, { databaseUrl: database.url });
      await use({ ...one, other });
      await Promise.all([one.close(), other.close()]);
      const client = new pg.Client({ connectionString: database.url });
      await client.connect();
      const { rows } = await client.query<{ deadlocks: string }>(
        'select deadlocks from pg_stat_database where datname = current_database()',
      );
      const violations: unknown[] = [];
      for (const [what, sql] of Object.entries(VIOLATIONS))
        violations.push(...(await client.query(sql)).rows.map((row: object) => ({ what, ...row })));
      await client.end();
      await database.drop();
      expect(rows).toEqual([{ deadlocks: '0' }]);
      expect(violations).toEqual([]);
      const faults = [one, other].flatMap(({ lines }) => lines.filter(({ level }) => Number(level) >= 50));
      if (faults.length > 0) throw new Error(`The service logged ${JSON.stringify(faults, null, 2)}`);
    },
    { scope: 'file' },
  ],
});

/** What must never be found in a database. */
const VIOLATIONS = {
  'a team without exactly one owner': `select t.id from team t left join membership m on m.team_id = t.id and m.role_id = 'owner' group by t.id having count(m.id) <> 1`,
  'a role of another team': `select m.id from membership m join role r on r.id = m.role_id where r.team_id <> m.team_id
    union all select i.id from invitation i join role r on r.id = i.role_id where r.team_id <> i.team_id`,
  'an offer to somebody who is no member': `select o.team_id from ownership_transfer o
    where not exists (select from membership m where m.team_id = o.team_id and m.account_id = o.nominee_id)`,
  'a team key without a membership': `select k.id from api_key k where k.team_id is not null and k.revoked_at is null
    and not exists (select from membership m where m.team_id = k.team_id and m.account_id = k.account_id)`,
};

/** Somebody who is signed in on both replicas: a caller for each turn. */
async function bothWays(api: Replicas, account: { id: string }): Promise<(turn: number) => Trpc> {
  const [one, other] = [await signedIn(api, account), await signedIn(api.other, account)];
  return (turn) => (turn % 2 === 0 ? one : other).trpc;
}

const inParallel = <Result>(count: number, work: (turn: number) => Promise<Result>): Promise<Result[]> =>
  Promise.all(Array.from({ length: count }, (_, turn) => work(turn)));

/** A team on a plan with room, its owner and some members, each a caller. */
async function aTeamOf(api: Replicas, size: number, role = 'guest') {
  const owner = await api.anAccount();
  const team = await api.aTeam({ owner });
  await api.aSubscription(team);
  const members = await inParallel(size, async () => {
    const account = await api.anAccount();
    await api.aMember(team, account, { role });
    return { ...account, trpc: await bothWays(api, account) };
  });
  return { team, teamId: team.id, owner: { ...owner, trpc: await bothWays(api, owner) }, members };
}

describe('accepting an invitation', () => {
  test('8 times in parallel makes one membership, and each answers the team', async ({ api }) => {
    const team = await api.aTeam({ owner: await api.anAccount() });
    const account = await api.anAccount();
    const { token } = await anInvitationWithLink(api, team, { email: account.email });
    const trpc = await bothWays(api, account);

    const answers = await inParallel(8, (turn) => trpc(turn).invitations.accept.mutate({ token }));

    expect(new Set(answers.map((answer) => JSON.stringify(answer)))).toHaveLength(1);
    expect(answers[0]).toMatchObject({ id: team.id, role: { id: 'member' } });
    expect(await memberships(api, team)).toHaveLength(2);
  });

  test('by the invited account and by others concurrently adds only the invited one', async ({ api }) => {
    const team = await api.aTeam({ owner: await api.anAccount() });
    const account = await api.anAccount();
    const { token } = await anInvitationWithLink(api, team, { email: account.email });
    const callers = await Promise.all(
      [account, ...(await inParallel(7, () => api.anAccount()))].map((each) => bothWays(api, each)),
    );

    const outcomes = await Promise.all(
      callers.map((trpc, turn) => outcomeOf(trpc(turn).invitations.accept.mutate({ token }))),
    );

    expect(outcomes[0]).toBe('done');
    for (const outcome of outcomes.slice(1)) expect(['invitation_for_another', 'link_invalid']).toContain(outcome);
    expect(await memberships(api, team)).toHaveLength(2);
  });

  // Guarantees that an invitation is either used or revoked, as each response reports.
  test.for(['revoking', 'declining'])('races %s: one of the two happens', async (how, { api }) => {
    const { team, teamId, owner } = await aTeamOf(api, 0);
    const rounds = await inParallel(15, async (turn) => {
      const account = await api.anAccount();
      const { id, token } = await anInvitationWithLink(api, team, { email: account.email });
      const trpc = await bothWays(api, account);
      const end = () =>
        how === 'revoking'
          ? owner.trpc(turn).revokeTeamInvitation.mutate({ teamId, invitationId: id })
          : trpc(turn).invitations.decline.mutate({ token });
      const outcomes = await Promise.all([trpc(turn + 1).invitations.accept.mutate({ token }), end()].map(outcomeOf));
      return { outcomes, isMember: (await membershipOf(api, team, account)) !== undefined };
    });

    const gone = how === 'revoking' ? 'invitation_not_found' : 'link_invalid';
    for (const { outcomes, isMember } of rounds) {
      expect(outcomes).toEqual(isMember ? ['done', gone] : ['link_invalid', 'done']);
    }
  });

  // Guarantees it also where the revocation has begun and not ended when the acceptance looks.
  test('waits for a revocation, and creates no member by a revoked invitation', async ({ api }) => {
    const team = await api.aTeam({ owner: await api.anAccount() });
    const account = await api.anAccount();
    const { id, token } = await anInvitationWithLink(api, team, { email: account.email });
    const trpc = await bothWays(api, account);
    const client = new pg.Client({ connectionString: api.databaseUrl });
    await client.connect();
    onTestFinished(() => client.end());
    await client.query('begin');
    await client.query('delete from invitation where id = $1', [id]);

    const outcome = outcomeOf(trpc(0).invitations.accept.mutate({ token }));
    const waiting = `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
    await expect.poll(() => api.rows(waiting), { interval: 5 }).not.toEqual([]);
    await client.query('commit');

    expect(await outcome).toBe('link_invalid');
    expect(await memberships(api, team)).toHaveLength(1);
  });

  test('races a resend: it is accepted, and no email follows an acceptance that came first', async ({ api }) => {
    const { team, teamId, owner } = await aTeamOf(api, 0);
    const rounds = await inParallel(15, async (turn) => {
      const account = await api.anAccount();
      const { id, token } = await anInvitationWithLink(api, team, { email: account.email });
      const trpc = await bothWays(api, account);
      const [accepted, resent] = await Promise.all(
        [
          trpc(turn).invitations.accept.mutate({ token }),
          owner.trpc(turn + 1).invitations.resend.mutate({ teamId, invitationId: id }),
        ].map(outcomeOf),
      );
      const jobs = await api.rows('select 1 from graphile_worker._private_jobs where key = $1', [`invitation:${id}`]);
      return { accepted, resent, jobs: jobs.length };
    });

    for (const { accepted, resent, jobs } of rounds) {
      expect(accepted).toBe('done');
      expect([resent, jobs]).toEqual(resent === 'done' ? ['done', 1] : ['invitation_not_found', 0]);
    }
    expect(await memberships(api, team)).toHaveLength(16);
  });

  test('by two links concurrently creates one membership', async ({ api }) => {
    const team = await api.aTeam({ owner: await api.anAccount() });
    const account = await api.anAccount();
    const { id, token } = await anInvitationWithLink(api, team, { email: account.email });
    const tokens = [token, await aLink(api, { id })];
    const trpc = await bothWays(api, account);

    expect(
      await tally(
        Array.from({ length: 8 }, (_, turn) => trpc(turn).invitations.accept.mutate({ token: tokens[turn % 2] ?? '' })),
      ),
    ).toEqual({ done: 8 });
    expect(await memberships(api, team)).toHaveLength(2);
  });

  test('races deleting the team, and answers as if either came first', async ({ api }) => {
    await inParallel(10, async (turn) => {
      const { team, teamId, owner } = await aTeamOf(api, 0);
      const account = await api.anAccount();
      const { token } = await anInvitationWithLink(api, team, { email: account.email });
      const trpc = await bothWays(api, account);

      const outcomes = await Promise.all(
        [trpc(turn).invitations.accept.mutate({ token }), owner.trpc(turn + 1).teams.delete.mutate({ teamId })].map(
          outcomeOf,
        ),
      );

      expect(['done', 'link_invalid']).toContain(outcomes[0]);
      expect(outcomes[1]).toBe('done');
      expect(await memberships(api, team)).toEqual([]);
    });
  });
});

describe('a team has one owner', () => {
  test('after 2 and after 8 parallel accepts of one offer', async ({ api }) => {
    for (const count of [2, 8]) {
      const { team, teamId, owner, members } = await aTeamOf(api, 1);
      const [nominee] = members;
      await owner.trpc(0).teams.offerOwnership.mutate({ teamId, userId: nominee?.id ?? '' });

      const outcomes = await tally(
        Array.from({ length: count }, (_, turn) => nominee!.trpc(turn).teams.acceptOwnership.mutate({ teamId })),
      );

      expect(outcomes).toEqual({ done: 1, transfer_not_found: count - 1 });
      expect(await ownersOf(api, team)).toEqual([nominee?.id]);
    }
  });

  test('whether the nominee is removed or accepts first', async ({ api }) => {
    await inParallel(20, async (turn) => {
      const { team, teamId, owner, members } = await aTeamOf(api, 1);
      const nominee = members[0]!;
      await owner.trpc(0).teams.offerOwnership.mutate({ teamId, userId: nominee.id });

      const [accepted, removed] = await Promise.all(
        [
          nominee.trpc(turn).teams.acceptOwnership.mutate({ teamId }),
          owner.trpc(turn + 1).removeTeamMember.mutate({ teamId, userId: nominee.id }),
        ].map(outcomeOf),
      );

      if (accepted === 'done') {
        expect(await ownersOf(api, team)).toEqual([nominee.id]);
        // Without the role that let them remove, or too late to remove an owner.
        expect(['permission_missing', 'owner_not_removable']).toContain(removed);
      } else {
        expect([accepted, removed]).toEqual(['team_not_found', 'done']);
        expect(await ownersOf(api, team)).toEqual([owner.id]);
      }
    });
  });

  test('whether the offer is accepted, replaced or withdrawn first', async ({ api }) => {
    await inParallel(12, async (turn) => {
      const { team, teamId, owner, members } = await aTeamOf(api, 2);
      const [first, second] = [members[0]!, members[1]!];
      await owner.trpc(0).teams.offerOwnership.mutate({ teamId, userId: first.id });

      const [accepted, replaced] = await Promise.all(
        [
          first.trpc(turn).teams.acceptOwnership.mutate({ teamId }),
          owner.trpc(turn + 1).teams.offerOwnership.mutate({ teamId, userId: second.id }),
          second.trpc(turn).teams.acceptOwnership.mutate({ teamId }),
          owner.trpc(turn).teams.withdrawOwnershipOffer.mutate({ teamId }),
        ].map(outcomeOf),
      );

      expect(['done', 'transfer_not_found']).toContain(accepted);
      expect(['done', 'permission_missing']).toContain(replaced);
      expect(await ownersOf(api, team)).toHaveLength(1);
    });
  });

  test('when an offer and its acceptance run in circles', async ({ api }) => {
    const { team, teamId, owner, members } = await aTeamOf(api, 3);
    const people = [owner, ...members];

    await inParallel(4, async (lane) => {
      for (let turn = 0; turn < 15; turn += 1) {
        const [from, to] = [people[(lane + turn) % 4]!, people[(lane + turn + 1) % 4]!];
        await outcomeOf(from.trpc(turn).teams.offerOwnership.mutate({ teamId, userId: to.id }));
        await outcomeOf(to.trpc(turn).teams.acceptOwnership.mutate({ teamId }));
        expect(await ownersOf(api, team)).toHaveLength(1);
      }
    });
  });

  // Guarantees that concurrent acceptances are counted under one lock with the teams that are created.
  test('and the team limit holds for an account that concurrently accepts several teams and creates others', async ({
    api,
  }) => {
    const nominee = await api.anAccount();
    for (let i = 0; i < 7; i += 1) await api.aTeam({ owner: nominee });
    const trpc = await bothWays(api, nominee);
    const offered = await inParallel(6, async () => {
      const { team, teamId, owner } = await aTeamOf(api, 0);
      await api.aMember(team, nominee);
      await owner.trpc(0).teams.offerOwnership.mutate({ teamId, userId: nominee.id });
      return teamId;
    });

    const outcomes = await tally([
      ...offered.map((teamId, turn) => trpc(turn).teams.acceptOwnership.mutate({ teamId })),
      ...Array.from({ length: 4 }, (_, turn) => trpc(turn).createTeam.mutate({ name: `Team ${turn}` })),
    ]);

    expect(outcomes).toEqual({ done: 3, team_limit_reached: 7 });
    expect(
      await api.rows(`select 1 from membership where account_id = $1 and role_id = 'owner'`, [nominee.id]),
    ).toHaveLength(10);
  });
});

describe('deleting a role', () => {
  // Guarantees that no membership and no invitation keeps a deleted role, and that no call fails with 500.
  test('races members and invitations that get it: all have a role that there is', async ({ api }) => {
    await inParallel(8, async (turn) => {
      const { team, teamId, owner, members } = await aTeamOf(api, 4);
      const role = await api.aRole(team, ['access_dashboard']);
      const account = await api.anAccount();
      const { token } = await anInvitationWithLink(api, team, { email: account.email, role: role.id });
      const invited = await bothWays(api, account);

      const outcomes = await Promise.all(
        [
          ...members.map(({ id }, i) =>
            owner.trpc(turn + i).members.setRole.mutate({ teamId, userId: id, roleId: role.id }),
          ),
          owner.trpc(turn).roles.delete.mutate({ teamId, roleId: role.id, replacementRoleId: 'member' }),
          owner.trpc(turn + 1).createTeamInvitation.mutate({
            teamId,
            email: `a-${role.id}@example.com`,
            roleId: role.id,
            isSystemRole: false,
          }),
          invited(turn).invitations.accept.mutate({ token }),
          owner.trpc(turn).roles.update.mutate({ teamId, roleId: role.id, name: `New ${role.id}` }),
        ].map(outcomeOf),
      );

      expect(outcomes[4]).toBe('done');
      expect(outcomes[6]).toBe('done');
      for (const outcome of [...outcomes.slice(0, 4), outcomes[5]])
        expect(['done', 'validation_failed']).toContain(outcome);
      expect(['done', 'role_not_found']).toContain(outcomes[7]);
      expect(await api.rows('select 1 from role where id = $1', [role.id])).toEqual([]);
      expect(['guest', 'member']).toContain((await membershipOf(api, team, members[0]!))?.role_id);
      expect(await membershipOf(api, team, account)).toMatchObject({ role_id: 'member' });
    });
  });

  test('of two roles into each other leaves one', async ({ api }) => {
    await inParallel(10, async (turn) => {
      const { team, teamId, owner } = await aTeamOf(api, 0);
      const [one, two] = [await api.aRole(team, []), await api.aRole(team, [])];
      await api.aMember(team, await api.anAccount(), { role: one.id });
      await api.aMember(team, await api.anAccount(), { role: two.id });
      const roles = (at: number) => owner.trpc(at).roles;

      const outcomes = await tally([
        roles(turn).delete.mutate({ teamId, roleId: one.id, replacementRoleId: two.id }),
        roles(turn + 1).delete.mutate({ teamId, roleId: two.id, replacementRoleId: one.id }),
      ]);

      expect(outcomes['done']).toBe(1);
      expect(await api.rows('select 1 from role where team_id = $1', [teamId])).toHaveLength(1);
    });
  });

  test('20 roles of one name: one is created', async ({ api }) => {
    const { teamId, owner } = await aTeamOf(api, 0);

    const outcomes = await tally(
      Array.from({ length: 20 }, (_, turn) =>
        owner.trpc(turn).roles.create.mutate({ teamId, name: turn % 3 === 0 ? 'Équipe' : 'équipe', permissions: [] }),
      ),
    );

    expect(outcomes).toEqual({ done: 1, validation_failed: 19 });
  });

  // Guarantees that no call uses a role that was outdated under the lock: one of the two is denied.
  test('two editors who take each other’s role do not both succeed', async ({ api }) => {
    const rounds = await inParallel(15, async (turn) => {
      const { team, teamId } = await aTeamOf(api, 0);
      const editors = await inParallel(2, async () => {
        const account = await api.anAccount();
        await api.aMember(team, account, { role: (await api.aRole(team, ['edit_team_settings'])).id });
        return { ...account, trpc: await bothWays(api, account) };
      });
      return tally([
        editors[0]!.trpc(turn).members.setRole.mutate({ teamId, userId: editors[1]!.id, roleId: 'guest' }),
        editors[1]!.trpc(turn + 1).members.setRole.mutate({ teamId, userId: editors[0]!.id, roleId: 'guest' }),
      ]);
    });

    for (const outcomes of rounds) expect(outcomes).toEqual({ done: 1, permission_missing: 1 });
  });
});

describe('the last seat', () => {
  // Guarantees it for each way to take a seat: the count and what takes the seat are one step.
  test('goes to one of many who are added, activated and invited concurrently', async ({ api }) => {
    const owner = await api.anAccount();
    const team = await api.aTeam({ owner });
    const teamId = team.id;
    const trpc = await bothWays(api, owner);
    for (let i = 0; i < 3; i += 1) await api.anInvitation(team);
    const waiting = await inParallel(8, async (turn) => {
      const account = await api.anAccount();
      await api.aMember(team, account, turn % 2 === 0 ? { active: false } : { expiresAt: inMinutes(-1) });
      return account.id;
    });

    const outcomes = await tally([
      ...waiting.map((userId, turn) =>
        turn % 4 === 1
          ? trpc(turn).members.setExpiry.mutate({ teamId, userId, expiresAt: null })
          : trpc(turn).members.activate.mutate({ teamId, userId }),
      ),
      ...Array.from({ length: 6 }, (_, turn) =>
        trpc(turn).createTeamInvitation.mutate({ teamId, email: `seat-${turn}-${teamId}@example.com` }),
      ),
    ]);

    expect(outcomes).toEqual({ done: 1, seat_limit_reached: 13 });
    const [row] = await api.rows<{ taken: number }>(
      `select (select count(*) from membership where team_id = $1 and is_active and (expires_at is null or expires_at > now()))::int
         + (select count(*) from invitation where team_id = $1 and accepted_at is null)::int as taken`,
      [teamId],
    );
    expect(row?.taken).toBe(5);
  });

  test('used by an invitation stays its own under concurrent requests', async ({ api }) => {
    const owner = await api.anAccount();
    const team = await api.aTeam({ owner });
    const trpc = await bothWays(api, owner);
    for (let i = 0; i < 3; i += 1) await api.aMember(team, await api.anAccount());
    const account = await api.anAccount();
    const { token } = await anInvitationWithLink(api, team, { email: account.email });
    const invited = await bothWays(api, account);

    const [accepted, ...others] = await Promise.all(
      [
        invited(0).invitations.accept.mutate({ token }),
        ...Array.from({ length: 8 }, (_, turn) =>
          trpc(turn).createTeamInvitation.mutate({ teamId: team.id, email: `late-${turn}@example.com` }),
        ),
      ].map(outcomeOf),
    );

    expect(accepted).toBe('done');
    expect(new Set(others)).toEqual(new Set(['seat_limit_reached']));
  });
});

// Guarantees that what changes a membership and what deletes its account wait for each other in one order.
describe('an account that is deleted', () => {
  type Scene = Awaited<ReturnType<typeof aTeamOf>>;
  const RIVALS: readonly [string, (scene: Scene, turn: number) => Promise<unknown>][] = [
    [
      'is removed from a team',
      ({ owner, teamId, members }, turn) =>
        owner.trpc(turn).removeTeamMember.mutate({ teamId, userId: members[0]!.id }),
    ],
    ['leaves a team', ({ teamId, members }, turn) => members[0]!.trpc(turn).teams.leave.mutate({ teamId })],
    [
      'gets another role',
      ({ owner, teamId, members }, turn) =>
        owner.trpc(turn).members.setRole.mutate({ teamId, userId: members[0]!.id, roleId: 'guest' }),
    ],
    [
      'is offered a team',
      ({ owner, teamId, members }, turn) =>
        owner.trpc(turn).teams.offerOwnership.mutate({ teamId, userId: members[0]!.id }),
    ],
    [
      'takes a team over',
      ({ teamId, members }, turn) => members[0]!.trpc(turn).teams.acceptOwnership.mutate({ teamId }),
    ],
    ['loses the whole team', ({ owner, teamId }, turn) => owner.trpc(turn).teams.delete.mutate({ teamId })],
    [
      'sends an invitation again',
      async ({ teamId, members }, turn) => {
        const trpc = members[0]!.trpc(turn);
        const [invitation] = await trpc.listTeamInvitations.query({ teamId });
        await trpc.invitations.resend.mutate({ teamId, invitationId: invitation?.id ?? '' });
        await trpc.createTeamInvitation.mutate({ teamId, email: invitation?.email ?? '', roleId: 'guest' });
      },
    ],
  ];

  test.for(RIVALS)('at the moment it %s', async ([, rival], { api }) => {
    await inParallel(12, async (turn) => {
      const scene = await aTeamOf(api, 1, 'member');
      const { team, teamId, owner, members } = scene;
      const [member] = members;
      const role = await api.aRole(team, MANY);
      await api.rows('update membership set role_id = $1 where account_id = $2', [role.id, member!.id]);
      for (let i = 0; i < 3; i += 1) await api.anApiKey(member!, { team });
      const { id } = await api.anInvitation(team, { role: 'guest' });
      await api.rows('update invitation set invited_by_id = $1 where id = $2', [member!.id, id]);
      await owner.trpc(turn).teams.offerOwnership.mutate({ teamId, userId: member!.id });

      const outcomes = await Promise.all(
        [member!.trpc(turn + 1).account.delete.mutate(), rival(scene, turn)].map(outcomeOf),
      );

      for (const outcome of outcomes) expect(['internal_error', 'service_unavailable']).not.toContain(outcome);
      // Either it was deleted with everything it owned, or it owns a team now.
      expect(['done', 'account_owns_teams']).toContain(outcomes[0]);
      if (outcomes[0] === 'done') expect(await membershipOf(api, team, member!)).toBeUndefined();
    });
  });
});

describe('all operations concurrently', () => {
  test('every change by many members, until each was done: no fault, and every team has one owner', async ({ api }) => {
    const teams = await inParallel(3, () => aTeamOf(api, 5, 'member'));
    for (const { team, members } of teams) {
      const role = await api.aRole(team, MANY);
      await api.rows('update membership set role_id = $1 where account_id = any($2) and team_id = $3', [
        role.id,
        members.map(({ id }) => id),
        team.id,
      ]);
    }
    const names = Object.keys(CHANGES) as (keyof typeof CHANGES)[]; // Object.keys widens them
    const done = new Set<string>();
    const seen = new Set<string>();
    let calls = 0;
    const goesOn = () => calls < 1000 || done.size < names.length;

    await inParallel(16, async (lane) => {
      for (let turn = lane; goesOn(); turn += 1, calls += 1) {
        const { team, owner, members } = anyOf(teams);
        const people = [owner, ...members].map(({ id, email, trpc }, i) => ({ id, email, trpc: trpc(turn + i) }));
        const name = anyOf(names);
        const outcome = await outcomeOf(
          CHANGES[name]({ api, team, people, person: anyOf(people), target: anyOf(people) }),
        );
        if (outcome === 'done') done.add(name);
        seen.add(outcome);
      }
    });

    for (const fault of ['internal_error', 'service_unavailable']) expect([...seen]).not.toContain(fault);
    for (const { team } of teams) expect(await ownersOf(api, team)).toHaveLength(1);
  });
});

type Person = { readonly id: string; readonly email: string; readonly trpc: Trpc };

/** What one turn of a lane works with: somebody who changes something, and somebody it is done to. */
type Turn = {
  readonly api: Api;
  readonly team: { id: string };
  readonly people: readonly Person[];
  readonly person: Person;
  readonly target: Person;
};

const random = randomOf('racers');
const anyOf = <Item>(items: readonly Item[]): Item => choose(random, items);

const anyRole = async (api: Api, team: { id: string }): Promise<string> =>
  anyOf([
    'member',
    'guest',
    ...(await api.rows<{ id: string }>('select id from role where team_id = $1', [team.id])).map(({ id }) => id),
  ]);

const MANY = ['edit_team_settings', 'remove_members', 'invite_members', 'access_dashboard', 'manage_api_keys'] as const;

/** Those of the people that an account id was found for, by now perhaps no more. */
async function thoseOf({ api, team, people }: Turn, sql: string): Promise<readonly Person[]> {
  const rows = await api.rows<{ id: string }>(sql, [team.id]);
  const found = people.filter(({ id }) => rows.some((row) => row.id === id));
  return found.length > 0 ? found : people;
}

const owners = (turn: Turn) =>
  thoseOf(turn, `select account_id as id from membership where team_id = $1 and role_id = 'owner'`);
const nominees = (turn: Turn) => thoseOf(turn, 'select nominee_id as id from ownership_transfer where team_id = $1');

const CHANGES = {
  setRole: async ({ api, team, person, target }) =>
    person.trpc.members.setRole.mutate({ teamId: team.id, userId: target.id, roleId: await anyRole(api, team) }),
  activate: ({ team, person, target }) => person.trpc.members.activate.mutate({ teamId: team.id, userId: target.id }),
  deactivate: ({ team, person, target }) =>
    person.trpc.members.deactivate.mutate({ teamId: team.id, userId: target.id }),
  setExpiry: ({ team, person, target }) =>
    person.trpc.members.setExpiry.mutate({
      teamId: team.id,
      userId: target.id,
      expiresAt: anyOf([null, inMinutes(60).toISOString()]),
    }),
  createRole: ({ team, person }) =>
    person.trpc.roles.create.mutate({ teamId: team.id, name: `Role ${random(1_000_000)}`, permissions: [...MANY] }),
  updateRole: async ({ api, team, person }) =>
    person.trpc.roles.update.mutate({ teamId: team.id, roleId: await anyRole(api, team), permissions: [...MANY] }),
  deleteRole: async ({ api, team, person }) =>
    person.trpc.roles.delete.mutate({
      teamId: team.id,
      roleId: await anyRole(api, team),
      replacementRoleId: await anyRole(api, team),
    }),
  offer: async (turn) =>
    anyOf(await owners(turn)).trpc.teams.offerOwnership.mutate({ teamId: turn.team.id, userId: turn.target.id }),
  accept: async (turn) => anyOf(await nominees(turn)).trpc.teams.acceptOwnership.mutate({ teamId: turn.team.id }),
  decline: async (turn) => anyOf(await nominees(turn)).trpc.teams.declineOwnership.mutate({ teamId: turn.team.id }),
  withdraw: async (turn) =>
    anyOf(await owners(turn)).trpc.teams.withdrawOwnershipOffer.mutate({ teamId: turn.team.id }),
  updateDetails: ({ team, person }) =>
    person.trpc.teams.updateDetails.mutate({ teamId: team.id, description: 'Changed' }),
  createApiKey: ({ team, person }) =>
    person.trpc.createApiKey.mutate({ teamId: team.id, name: 'A key', scopes: ['teams:read'] }),
  preview: ({ team, person, target }) =>
    person.trpc.members.removalPreview.query({ teamId: team.id, userId: target.id }),
  resend: async ({ api, team, person }) => {
    const { id } = await api.anInvitation(team);
    await person.trpc.invitations.resend.mutate({ teamId: team.id, invitationId: id });
  },
  // Whoever goes is invited back and comes back, so that there are members until the end.
  remove: async ({ api, team, person, target }) => {
    await person.trpc.removeTeamMember.mutate({ teamId: team.id, userId: target.id });
    await comeBack(api, team, target);
  },
  leave: async ({ api, team, person }) => {
    await person.trpc.teams.leave.mutate({ teamId: team.id });
    await comeBack(api, team, person);
  },
} satisfies Record<string, (turn: Turn) => Promise<unknown>>;

async function comeBack(api: Api, team: { id: string }, { email, trpc }: Person): Promise<void> {
  const { id, token } = await anInvitationWithLink(api, team, { email });
  // Under the lock of the team, as every writer of a role's references. A role that is deleted at this moment leaves
  // the invitation as it was made.
  const promote = `with locked as (select id from team where id = $2 for update)
    update invitation set role_id = (select id from role where team_id = $2 and permissions @> array['edit_team_settings'] limit 1)
    where id = $1 and team_id in (select id from locked)`;
  await api.rows(promote, [id, team.id]).catch(() => undefined);
  await trpc.invitations.accept.mutate({ token });
}
