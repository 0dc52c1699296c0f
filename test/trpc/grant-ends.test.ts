import pg from 'pg';
import { describe, expect } from 'vitest';
import { disableAccount, enableAccount } from '../../src/resources/accounts/accounts.service.ts';
import type { Scope } from '../../src/entities/index.ts';
import { startApi, test as base, type Api } from '../support/api.ts';
import { signedIn } from '../support/browser.ts';
import type { Answer } from '../support/client.ts';
import type { AKey } from '../support/factories.ts';
import { as, outcomeOf } from './console.ts';

const test = base.extend<{ replica: Api }>({
  /** Another instance on the same database. */
  replica: [
    async ({ api }, use) => {
      const replica = await startApi({}, api);
      await use(replica);
      await replica.close();
      expect(replica.lines.filter(({ level }) => Number(level) >= 50)).toEqual([]);
    },
    { scope: 'file' },
  ],
});

/** A member with a grant for the team, and what must outlive it: grants for the account and for another team. */
async function aScene(api: Api) {
  const owner = await api.anAccount();
  const member = await api.anAccount();
  const team = await api.aTeam({ owner });
  const other = await api.aTeam({ owner });
  const role = await api.aRole(team, ['manage_api_keys']);
  await api.aMember(team, member, { role: role.id });
  await api.aMember(other, member);
  return {
    owner,
    member,
    team,
    other,
    grant: await api.aGrant(member, { team }),
    staying: [
      await api.aGrant(member, { scopes: ['teams:read', 'api-keys:write'] }),
      await api.aGrant(member, { team: other }),
      await api.aGrant(owner, { team }),
    ] as const,
  };
}

type Scene = Awaited<ReturnType<typeof aScene>>;

const works = async (api: Api, credential: { secret: string }): Promise<boolean> => {
  const answer = await api.as(credential).get('/api/v1/credential');
  if (answer.status !== 200) expect(answer).toBeProblem('credential_invalid');
  return answer.status === 200;
};

/** Makes a key with an access token. */
async function aKeyThrough(
  api: Api,
  grant: { secret: string },
  input: { scopes?: readonly Scope[]; teamId?: string } = {},
) {
  const { status, body } = await api
    .as(grant)
    .post('/api/v1/api-keys', { name: 'Made by an application', scopes: ['teams:read'], ...input });
  expect(status).toBe(201);
  return { id: body.key.id as string, secret: body.secret as string };
}

const scopesOf = async (api: Api, { id }: AKey) =>
  (await api.rows<{ scopes: Scope[] }>('select scopes from api_key where id = $1', [id]))[0]?.scopes;

describe('a grant for a team', () => {
  const ENDS: readonly (readonly [string, (api: Api, scene: Scene) => Promise<unknown>])[] = [
    [
      'removed',
      async (api, { owner, member, team }) =>
        (await as(api, owner)).removeTeamMember.mutate({ teamId: team.id, userId: member.id }),
    ],
    ['gone', async (api, { member, team }) => (await as(api, member)).teams.leave.mutate({ teamId: team.id })],
  ];

  test.for(ENDS)('is revoked if its member is %s, and no other grant is', async ([, end], { api, replica }) => {
    const scene = await aScene(api);
    expect(await works(api, scene.grant)).toBe(true);

    await end(api, scene);

    for (const at of [api, replica]) expect(await works(at, scene.grant)).toBe(false);
    for (const grant of scene.staying) expect(await works(api, grant)).toBe(true);
    expect((await (await as(api, scene.member)).grants.list.query()).map(({ id }) => id).toSorted()).toEqual(
      [scene.staying[0].id, scene.staying[1].id].toSorted(),
    );
  });

  // Guarantees that a member who returns has to approve again.
  test('does not come back with a new membership', async ({ api }) => {
    const scene = await aScene(api);
    await (await as(api, scene.member)).teams.leave.mutate({ teamId: scene.team.id });

    await api.aMember(scene.team, scene.member);

    expect(await works(api, scene.grant)).toBe(false);
  });

  test('no call that begins after the removal gets in, while the token is in use', async ({ api, replica }) => {
    const { owner, member, team, grant } = await aScene(api);
    const after: Answer[] = [];
    let isDone = false;
    let calls = 0;
    const lane = async (at: Api) => {
      for (let left = 8; left > 0; calls += 1) {
        const isAfter = isDone;
        const answer = await at.as(grant).get(`/api/v1/teams/${team.id}`);
        if (!isAfter) continue;
        left -= 1;
        after.push(answer);
      }
    };
    const lanes = Promise.all([api, replica, api, replica].map(lane));
    await expect.poll(() => calls, { interval: 1 }).toBeGreaterThan(8);
    const remover = await as(replica, owner);

    await remover.removeTeamMember.mutate({ teamId: team.id, userId: member.id });
    isDone = true;
    await lanes;

    for (const answer of after) expect(answer).toBeProblem('credential_invalid');
  });

  test('stays, but sees no team, while its membership is inactive or has expired', async ({ api }) => {
    const { owner, member, team, grant } = await aScene(api);
    const { members } = await as(api, owner);
    const which = { teamId: team.id, userId: member.id };
    const seen = async () => {
      const [listed, read] = [
        await api.as(grant).get('/api/v1/teams'),
        await api.as(grant).get(`/api/v1/teams/${team.id}`),
      ];
      expect(listed.status).toBe(200);
      return { listed: listed.body.length as number, read: read.status === 200 ? 'done' : (read.body.code as string) };
    };

    await members.deactivate.mutate(which);
    expect(await seen()).toEqual({ listed: 0, read: 'team_not_found' });
    await members.activate.mutate(which);
    expect(await seen()).toEqual({ listed: 1, read: 'done' });
    await api.rows(
      `update membership set expires_at = now() - interval '1 second' where team_id = $1 and account_id = $2`,
      [team.id, member.id],
    );
    expect(await seen()).toEqual({ listed: 0, read: 'team_not_found' });
    await members.setExpiry.mutate({ ...which, expiresAt: null });
    expect(await seen()).toEqual({ listed: 1, read: 'done' });
  });

  test('ends with the team', async ({ api }) => {
    const { owner, team, grant, staying } = await aScene(api);
    const key = await api.anApiKey(owner, { team });

    await (await as(api, owner)).teams.delete.mutate({ teamId: team.id });

    for (const gone of [grant, staying[2], key]) expect(await works(api, gone)).toBe(false);
    for (const stays of [staying[0], staying[1]]) expect(await works(api, stays)).toBe(true);
    expect(await api.rows('select 1 from oauth_grant where team_id = $1', [team.id])).toEqual([]);
  });
});

describe('an account', () => {
  test('that is disabled has grants that work again once it is enabled', async ({ api }) => {
    const { member, grant, staying } = await aScene(api);

    await disableAccount(api.services.db, 'system', member.id);
    for (const each of [grant, staying[0], staying[1]]) expect(await works(api, each)).toBe(false);
    expect(await works(api, staying[2])).toBe(true);

    await enableAccount(api.services.db, 'system', member.id);
    for (const each of [grant, ...staying]) expect(await works(api, each)).toBe(true);
  });

  // Guarantees that nothing is left of the account, nor of what others allowed the clients that go with it.
  test('takes its grants, its clients, and the grants and keys of these along', async ({ api }) => {
    const { owner, member, grant, staying } = await aScene(api);
    const client = await api.anOAuthClient({ owner: member, confidential: true });
    const allowed = await api.aGrant(owner, { client, scopes: ['teams:read', 'api-keys:write'] });
    const key = await aKeyThrough(api, allowed);

    await (await as(api, member)).account.delete.mutate();

    for (const gone of [grant, staying[0], staying[1], allowed, key]) expect(await works(api, gone)).toBe(false);
    expect(await works(api, staying[2])).toBe(true);
    expect(await api.rows('select 1 from oauth_grant where account_id = $1', [member.id])).toEqual([]);
    expect(await api.rows('select 1 from oauth_client where id = $1', [client.id])).toEqual([]);
    expect(await api.rows('select 1 from oauth_client_secret where client_id = $1', [client.id])).toEqual([]);
  });
});

describe('a key created through a grant', () => {
  test('ends with the grant, also one for a team, and no other does', async ({ api, replica }) => {
    const { member, team, staying } = await aScene(api);
    const [grant] = staying;
    const sibling = await api.aGrant(member, { scopes: ['teams:read', 'api-keys:write'] });
    const going = [await aKeyThrough(api, grant), await aKeyThrough(api, grant, { teamId: team.id })];
    const stays = [await api.anApiKey(member), await api.anApiKey(member, { team }), await aKeyThrough(api, sibling)];
    for (const key of [...going, ...stays]) expect(await works(api, key)).toBe(true);

    await (await as(api, member)).grants.revoke.mutate({ grantId: grant.id });

    for (const key of going) for (const at of [api, replica]) expect(await works(at, key)).toBe(false);
    for (const key of [...stays, sibling]) expect(await works(api, key)).toBe(true);
    expect(
      await api.rows('select id from api_key where oauth_grant_id = $1 and revoked_at is not null order by id', [
        grant.id,
      ]),
    ).toEqual(going.map(({ id }) => ({ id })).toSorted((one, other) => (one.id < other.id ? -1 : 1)));
  });

  // Guarantees that an application does not outlive its grant by keys that make keys.
  test('makes keys that end with the grant too', async ({ api }) => {
    const { member, staying } = await aScene(api);
    const [grant] = staying;
    const made = await api
      .as(grant)
      .post('/api/v1/api-keys', { name: 'First', scopes: ['teams:read', 'api-keys:write'] });
    const child = await aKeyThrough(api, { secret: made.body.secret as string });
    expect(await works(api, child)).toBe(true);

    await (await as(api, member)).grants.revoke.mutate({ grantId: grant.id });

    expect(await works(api, child)).toBe(false);
  });

  // Guarantees that there is no moment at which the grant has ended and a key of it works.
  test('ends in the same transaction', async ({ api }) => {
    const { member, staying } = await aScene(api);
    const [grant] = staying;
    const key = await aKeyThrough(api, grant);

    await (await as(api, member)).grants.revoke.mutate({ grantId: grant.id });

    // Rows that one transaction has written.
    expect(
      await api.rows(
        'select 1 from oauth_grant g join api_key k on k.oauth_grant_id = g.id and k.xmin = g.xmin where k.id = $1',
        [key.id],
      ),
    ).toHaveLength(1);
  });

  test('loses what the grant loses, in its row, and is revoked where nothing is left', async ({ api }) => {
    const account = await api.anAccount();
    const grant = await api.aGrant(account, { scopes: ['teams:read', 'members:read', 'api-keys:write'] });
    const make = async (bearer: { secret: string }, scopes: string[]) =>
      (await api.as(bearer).post('/api/v1/api-keys', { name: 'A key', scopes })).body;
    const first = await make(grant, ['teams:read', 'members:read', 'api-keys:write']);
    const second = await make(first, ['teams:read', 'members:read']);
    const empty = await make(second.secret ? first : grant, ['members:read']);
    const beside = await api.anApiKey(account, { scopes: ['members:read'] });

    const { grants } = await as(api, account);
    await grants.narrow.mutate({ grantId: grant.id, scopes: ['teams:read', 'api-keys:write'] });

    expect((await api.as(first).get('/api/v1/credential')).body.scopes).toEqual(['teams:read', 'api-keys:write']);
    expect((await api.as(second).get('/api/v1/credential')).body.scopes).toEqual(['teams:read']);
    expect(await api.as(empty).get('/api/v1/credential')).toBeProblem('credential_invalid');
    expect((await api.as(beside).get('/api/v1/credential')).body.scopes).toEqual(['members:read']);
    expect(await api.as(first).get('/api/v1/teams')).toMatchObject({ status: 200 });
    expect(
      await api.rows(`select from oauth_token where grant_id = $1 and 'members:read' = any(scopes)`, [grant.id]),
    ).toEqual([]);
  });

  // Guarantees that the statement that authenticates looks at the grant, without any cleanup.
  test.for([
    ['is revoked', 'update oauth_grant set revoked_at = now() where id = $1'],
    ['expires', `update oauth_grant set expires_at = now() - interval '1 ms' where id = $1`],
    ['is deleted', 'delete from oauth_grant where id = $1'],
  ])('is rejected once its row %s, and so is a key that it created', async ([, end = ''], { api }) => {
    const account = await api.anAccount();
    const team = await api.aTeam({ owner: account });
    const grant = await api.aGrant(account, { scopes: ['teams:read', 'api-keys:write'] });
    const make = async (bearer: { secret: string }, scopes: string[]) =>
      (await api.as(bearer).post('/api/v1/api-keys', { name: 'A key', scopes })).body;
    const first = await make(grant, ['teams:read', 'api-keys:write']);
    const second = await make(first, ['teams:read']);

    for (const key of [first, second]) expect((await api.as(key).get(`/api/v1/teams/${team.id}`)).status).toBe(200);
    await api.rows(end, [grant.id]);

    for (const key of [first, second]) {
      expect(await api.as(key).get(`/api/v1/teams/${team.id}`)).toBeProblem('credential_invalid');
      expect(await api.as(key).get('/api/v1/teams')).toBeProblem('credential_invalid');
    }
  });

  test('expires with the grant at the latest', async ({ api }) => {
    const expiresAt = new Date(Date.now() + 5 * 86_400_000);
    const grant = await api.aGrant(await api.anAccount(), { scopes: ['teams:read', 'api-keys:write'], expiresAt });
    const make = async (expiresInDays?: number) =>
      (await api.as(grant).post('/api/v1/api-keys', { name: 'A key', scopes: ['teams:read'], expiresInDays })).body.key
        .expiresAt;

    expect([await make(), await make(30)]).toEqual([expiresAt.toISOString(), expiresAt.toISOString()]);
    expect(Date.parse(await make(1))).toBeLessThan(expiresAt.getTime());
  });

  test('never holds what the token or the grant does not', async ({ api }) => {
    const account = await api.anAccount();
    const grant = await api.aGrant(account, {
      scopes: ['teams:read', 'members:read', 'api-keys:write'],
      tokenScopes: ['teams:read', 'billing:read', 'api-keys:write'],
    });
    const key = await aKeyThrough(api, grant);
    const others = await api.anApiKey(account, { scopes: ['teams:read'] });

    for (const scope of ['members:read', 'billing:read', 'profile:write'] as const) {
      const scopes = ['teams:read', scope];
      expect(await api.as(grant).post('/api/v1/api-keys', { name: 'Wide', scopes })).toBeProblem('scope_not_allowed');
      for (const { id } of [key, others]) {
        expect(await api.as(grant).patch(`/api/v1/api-keys/${id}`, { scopes })).toBeProblem('scope_not_allowed');
      }
    }
    for (const each of [key, others]) expect(await scopesOf(api, each)).toEqual(['teams:read']);
  });

  test('gets no scope beyond the grant, whoever changes its scopes', async ({ api }) => {
    const account = await api.anAccount();
    const grant = await api.aGrant(account, { scopes: ['teams:read', 'members:read', 'api-keys:write'] });
    const key = await aKeyThrough(api, grant);
    const trpc = await as(api, account);
    await trpc.grants.narrow.mutate({ grantId: grant.id, scopes: ['teams:read', 'api-keys:write'] });
    const other = await api.aGrant(account, { scopes: ['members:read', 'api-keys:write'] });
    const beside = await api.anApiKey(account, { scopes: ['members:read', 'api-keys:write'] });

    for (const caller of [other, beside]) {
      const answer = await api.as(caller).patch(`/api/v1/api-keys/${key.id}`, { scopes: ['members:read'] });
      expect(answer).toBeProblem('scope_not_allowed');
    }
    const widen = trpc.updateApiKey.mutate({ keyId: key.id, scopes: ['members:read'] });
    expect(await outcomeOf(widen)).toBe('scope_not_allowed');
    expect(await scopesOf(api, key)).toEqual(['teams:read']);
    expect(await outcomeOf(trpc.updateApiKey.mutate({ keyId: key.id, scopes: ['api-keys:write'] }))).toBe('done');
  });

  // Guarantees that no key slips through: one that is made while its grant ends is ended too, or never made.
  test('does not outlive a revocation during its creation', async ({ api, replica }) => {
    const { member, team } = await aScene(api);
    for (let round = 0; round < 4; round += 1) {
      const grant = await api.aGrant(member, { scopes: ['teams:read', 'api-keys:write'] });
      const { grants } = await as(replica, member);
      const make = async (turn: number): Promise<Answer> => {
        const teamId = turn % 3 === 0 ? { teamId: team.id } : {};
        return (turn % 2 === 0 ? api : replica)
          .as(grant)
          .post('/api/v1/api-keys', { name: `Key ${turn}`, scopes: ['teams:read'], ...teamId });
      };

      const early = Array.from({ length: 4 + round }, (_, turn) => make(turn));
      await Promise.race(early);
      const [made] = await Promise.all([
        Promise.all([...early, ...Array.from({ length: 10 }, (_, turn) => make(turn))]),
        grants.revoke.mutate({ grantId: grant.id }),
      ]);

      const secrets = made.flatMap(({ status, body }) => (status === 201 ? [{ secret: body.secret as string }] : []));
      expect(secrets.length).toBeGreaterThan(0);
      for (const answer of made) if (answer.status !== 201) expect(answer).toBeProblem('credential_invalid');
      for (const key of secrets) expect(await works(api, key)).toBe(false);
      expect(
        await api.rows('select 1 from api_key where oauth_grant_id = $1 and revoked_at is null', [grant.id]),
      ).toEqual([]);
    }
  });

  test('is not created by a call that waited while the grant was revoked', async ({ api }) => {
    const { member, staying } = await aScene(api);
    const [grant] = staying;

    const { answer } = await whileLocked(
      api,
      `select 1 from account where id = '${member.id}' for update`,
      async (untilWaiting, run) => {
        const answer = api.as(grant).post('/api/v1/api-keys', { name: 'Late', scopes: ['teams:read'] });
        await untilWaiting(1);
        await run(`update oauth_grant set revoked_at = now() where id = '${grant.id}'`);
        return { answer };
      },
    );

    expect(await answer).toBeProblem('credential_invalid');
    expect(await api.rows('select 1 from api_key where oauth_grant_id = $1', [grant.id])).toEqual([]);
  });

  test('that is just being written is ended by the revocation, which waits for it', async ({ api }) => {
    const { member, staying } = await aScene(api);
    const [grant] = staying;
    const { grants } = await as(api, member);

    const { answer, revoked } = await whileLocked(api, 'lock table api_key in share mode', async (untilWaiting) => {
      const answer = api.as(grant).post('/api/v1/api-keys', { name: 'Early', scopes: ['teams:read'] });
      await untilWaiting(1);
      const revoked = grants.revoke.mutate({ grantId: grant.id });
      await untilWaiting(2);
      return { answer, revoked };
    });

    const { status, body } = await answer;
    expect(status).toBe(201);
    await revoked;
    expect(await works(api, { secret: body.secret })).toBe(false);
  });

  test.for(['making', 're-scoping'])('does not get by %s what its grant loses concurrently', async (way, { api }) => {
    const { member, staying } = await aScene(api);
    const [grant] = staying;
    const key = await api.anApiKey(member, { scopes: ['profile:read'] });
    const scopes = ['teams:read'];

    // Each call is past its authentication when it waits.
    const { answer } = await whileLocked(
      api,
      way === 'making'
        ? `select 1 from account where id = '${member.id}' for update`
        : `select 1 from oauth_grant where id = '${grant.id}' for update`,
      async (untilWaiting, run) => {
        const answer =
          way === 'making'
            ? api.as(grant).post('/api/v1/api-keys', { name: 'Wide', scopes })
            : api.as(grant).patch(`/api/v1/api-keys/${key.id}`, { scopes });
        await untilWaiting(1);
        await run(`update oauth_grant set scopes = '{api-keys:write}' where id = '${grant.id}'`);
        return { answer };
      },
    );

    expect(await answer).toBeProblem('scope_not_allowed');
    expect(await api.rows('select 1 from api_key where oauth_grant_id = $1', [grant.id])).toEqual([]);
    expect(await scopesOf(api, key)).toEqual(['profile:read']);
  });

  // Guarantees that a reduction waits for a key that is getting scopes, so that none gets them after its response.
  test('gets no scope back after those of its grant were reduced', async ({ api }) => {
    const { member, staying } = await aScene(api);
    const [grant] = staying;
    const { grants } = await as(api, member);
    const key = await api.anApiKey(member, { scopes: ['profile:read'] });

    const { answer, narrowed } = await whileLocked(
      api,
      `select 1 from api_key where id = '${key.id}' for update`,
      async (untilWaiting) => {
        const answer = api.as(grant).patch(`/api/v1/api-keys/${key.id}`, { scopes: ['teams:read'] });
        await untilWaiting(1);
        const narrowed = grants.narrow.mutate({ grantId: grant.id, scopes: ['api-keys:write'] });
        await untilWaiting(2);
        return { answer, narrowed };
      },
    );

    expect((await answer).status).toBe(200);
    await narrowed;
    expect(await api.as(grant).patch(`/api/v1/api-keys/${key.id}`, { scopes: ['teams:read'] })).toBeProblem(
      'scope_not_allowed',
    );
  });
});

// Guarantees that nothing which ends grants together with keys can deadlock with what re-scopes keys, or ends them too.
describe('grants are locked before keys, and keys in the order of their ids', () => {
  /** A grant with two keys, of which the first by its id was written last, and the people who can end it. */
  async function aGrantWithKeys(api: Api) {
    const developer = await api.anAccount();
    const account = await api.anAccount();
    const client = await api.anOAuthClient({ owner: developer });
    const grant = await api.aGrant(account, { client, scopes: ['teams:read', 'api-keys:write'] });
    const second = await aKeyThrough(api, grant);
    const first = { id: second.id.replace('key_', 'key_0') };
    await api.rows(
      `insert into api_key (id, account_id, oauth_grant_id, name, scopes, key_prefix, last4, created_at)
       select $1, account_id, oauth_grant_id, name, scopes, key_prefix, last4, created_at from api_key where id = $2`,
      [first.id, second.id],
    );
    return { grant, first, second, person: await as(api, account), developer: await as(api, developer) };
  }

  type Ended = Awaited<ReturnType<typeof aGrantWithKeys>>;
  const lockOf = ({ id }: { id: string }): string => `select 1 from api_key where id = '${id}' for update nowait`;
  const ENDS: readonly (readonly [string, (ended: Ended) => Promise<unknown>])[] = [
    ['the revocation of the grant', ({ grant, person }) => person.grants.revoke.mutate({ grantId: grant.id })],
    ['the deletion of the account', ({ person }) => person.account.delete.mutate()],
    ['the deletion of the account that has the client', ({ developer }) => developer.account.delete.mutate()],
  ];

  test.for(ENDS)('by %s, beside a re-scoping through the grant', async ([, end], { api }) => {
    const scene = await aGrantWithKeys(api);

    const { rescoped, ended } = await whileLocked(api, lockOf(scene.second), async (untilWaiting) => {
      const ended = outcomeOf(end(scene));
      await untilWaiting(1);
      const rescoped = api.as(scene.grant).patch(`/api/v1/api-keys/${scene.first.id}`, { scopes: ['teams:read'] });
      await untilWaiting(2);
      return { rescoped, ended };
    });

    expect(await ended).toBe('done');
    expect(await rescoped).toBeProblem('credential_invalid');
    expect(await works(api, scene.second)).toBe(false);
  });

  test.for(ENDS)('by %s, beside a transaction that locks keys in their order', async ([, end], { api }) => {
    const scene = await aGrantWithKeys(api);

    const { ended } = await whileLocked(api, lockOf(scene.first), async (untilWaiting, run) => {
      const ended = outcomeOf(end(scene));
      await untilWaiting(1);
      await run(lockOf(scene.second));
      return { ended };
    });

    expect(await ended).toBe('done');
  });

  test('by the deletion of a team', async ({ api }) => {
    const owner = await api.anAccount();
    const team = await api.aTeam({ owner });
    const grant = await api.aGrant(owner, { team });
    const key = await api.anApiKey(owner, { team });
    const { trpc } = await signedIn(api, owner);

    const { deleted } = await whileLocked(
      api,
      `select 1 from oauth_grant where id = '${grant.id}' for update`,
      async (untilWaiting, run) => {
        const deleted = outcomeOf(trpc.teams.delete.mutate({ teamId: team.id }));
        await untilWaiting(1);
        // Whoever ends the grant takes keys now.
        await run(`select 1 from api_key where id = '${key.id}' for update nowait`);
        return { deleted };
      },
    );

    expect(await deleted).toBe('done');
  });
});

/**
 * Runs a statement in a transaction and, before that commits, `meanwhile`, which can wait until as many statements wait for
 * locks and run more in it. What it starts is given back in an object, because a promise would be awaited.
 */
async function whileLocked<Started extends object>(
  api: Api,
  statement: string,
  meanwhile: (
    untilWaiting: (count: number) => Promise<void>,
    run: (sql: string) => Promise<unknown>,
  ) => Promise<Started>,
): Promise<Started> {
  const client = new pg.Client({ connectionString: api.databaseUrl });
  await client.connect();
  try {
    await client.query('begin');
    await client.query(statement);
    const waiting = `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
    const untilWaiting = async (count: number) =>
      await expect.poll(() => api.rows(waiting), { interval: 5 }).toHaveLength(count);
    const started = await meanwhile(untilWaiting, (sql) => client.query(sql));
    await client.query('commit');
    return started;
  } finally {
    await client.end();
  }
}
