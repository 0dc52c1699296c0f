import { describe, expect, test } from 'vitest';
import { authenticate } from '../../src/auth/authenticate.ts';
import { createTokens } from '../../src/crypto/tokens.ts';
import { demoBanner } from '../../src/demo/banner.ts';
import type { SeededDemo } from '../../src/demo/seed.ts';
import { listTeamInvitations } from '../../src/resources/invitations/invitations.queries.ts';
import { listTeamMembers } from '../../src/resources/members/members.queries.ts';
import { rosterOfItsOwn } from './roster.ts';

describe('seed --demo', () => {
  // Guarantees that demo data never mixes into half of what is there.
  test('adds everything once beside other accounts, then fails and adds nothing', async () => {
    const roster = await rosterOfItsOwn();
    await roster.account();
    const countAll = () =>
      roster.rows(
        `select (select count(*)::int from account) as accounts, (select count(*)::int from team) as teams, (select count(*)::int from api_key) as keys`,
      );

    const seeded = await roster.json<SeededDemo>('seed', '--demo');

    const [team] = seeded.teams;
    const [owner] = seeded.accounts;
    expect(seeded.accounts.map(({ role }) => role)).toEqual(['Owner', 'Member', 'Guest', 'Recruiter', 'Operator']);
    expect(await roster.rows(`select email from account where role = 'admin'`)).toEqual([
      { email: 'operator@example.com' },
    ]);
    expect(await countAll()).toEqual([{ accounts: 6, teams: 2, keys: 3 }]);
    expect(
      (await listTeamMembers(roster.db, team?.id ?? ''))
        .items()
        .map(({ roleName }) => roleName ?? '')
        .toSorted(),
    ).toEqual(['Guest', 'Member', 'Owner', 'Recruiter']);
    expect(await listTeamInvitations(roster.db, team?.id ?? '')).toHaveLength(2);
    expect(await roster.rows('select id from session where account_id = $1', [owner?.id])).toHaveLength(3);
    for (const { key, secret } of Object.values(seeded.keys)) {
      const { principal } = await authenticate(roster.db, createTokens('rst'), secret, null);
      expect(principal).toMatchObject({
        accountId: owner?.id,
        credentialId: key.id,
        scopes: key.scopes,
        teamId: key.teamId,
      });
    }

    expect(await roster.refusal('seed', '--demo')).toBe(
      '--demo: nothing was added: An account with the address owner@example.com exists already.',
    );
    expect(await countAll()).toEqual([{ accounts: 6, teams: 2, keys: 3 }]);
  });

  test('of two concurrent calls one adds the data, and the other fails', async () => {
    const roster = await rosterOfItsOwn();

    const runs = await Promise.all([roster.run('seed', '--demo'), roster.run('seed', '--demo')]);

    expect(runs.filter(({ code }) => code === 0)).toHaveLength(1);
    expect(runs.filter(({ code }) => code === 1)).toHaveLength(1);
    expect(await roster.rows('select count(*)::int as accounts from account')).toEqual([{ accounts: 5 }]);
    const banner = runs.find(({ code }) => code === 0)?.stdout ?? '';
    expect(banner).toContain('curl http://localhost:3000/api/v1/credential');
    expect(banner.split('\n').filter((line) => line.length > 100)).toEqual([]);
  });
});

test('the banner names the address that the service is reached at', () => {
  const key = (secret: string) => ({
    secret,
    key: {
      id: '',
      name: '',
      keyPrefix: '',
      last4: '',
      scopes: [],
      teamId: null,
      createdAt: '',
      lastUsedAt: null,
      expiresAt: null,
    },
  });
  const seeded: SeededDemo = {
    accounts: [{ id: 'acc_1', email: 'owner@example.com', role: 'Owner' }],
    password: 'a password',
    teams: [{ id: 'team_1', name: 'Core', slug: 'core', description: null, avatarUrl: null }],
    keys: { personal: key('rst_pk_all'), readOnly: key('rst_pk_read'), team: key('rst_tk_team') },
  };

  expect(demoBanner('https://roster.example.com', seeded)).toContain(
    `curl https://roster.example.com/api/v1/teams/team_1/invitations \\\n      -H 'Authorization: Bearer rst_pk_all' \\\n      -H 'Content-Type: application/json' -d '{"email":"new.colleague@example.com"}'\n`,
  );
});
