import { describe, expect, onTestFinished } from 'vitest';
import { createMailer } from '../../src/email/mailer.ts';
import { startJobs } from '../../src/service/background.ts';
import { listAllClients } from '../../src/resources/oauth-clients/oauth-clients.queries.ts';
import { findClient } from '../../src/resources/oauth-clients/registered-client.ts';
import { openLog } from '../../src/telemetry/log.ts';
import { readWebhookState } from '../../src/webhooks/state.ts';
import { test, type Api } from '../support/api.ts';
import { aTenant, countLockWaits, holdLock } from '../rest/tenants.ts';
import { as, outcomeOf, withKey } from './console.ts';

const GRANTS = 1200;
const INVALID = 'credential_invalid';

/** A client of a developer with more grants than one transaction deletes, of two of which the person has the tokens. */
async function aLargeClient(api: Api) {
  const [developer, person] = [await api.anAccount(), await api.anAccount()];
  const client = await api.anOAuthClient({ owner: developer });
  // Ids before and after all others, so that one of them is in whatever is deleted first.
  const grants = [await api.aGrant(person, { client }), await api.aGrant(person, { client })];
  await api.rows(
    `insert into oauth_grant (id, account_id, client_id, audience, scopes, created_at, expires_at)
     select format('grant_%s-%s', $1::text, n), $2, $1, 'personal', array['teams:read'], now(), now() + interval '90 days'
     from generate_series(1, ${GRANTS}) n`,
    [client.id, person.id],
  );
  const last = await api.aGrant(person, { client });
  const through = await api.anApiKey(person);
  await api.rows('update api_key set oauth_grant_id = $1 where id = $2', [last.id, through.id]);
  return { developer, person, client, credentials: [...grants, last, through] };
}

type Scene = Awaited<ReturnType<typeof aLargeClient>>;

const outcomesOf = (api: Api, { credentials }: Scene) =>
  Promise.all(credentials.map((one) => outcomeOf(withKey(api, one).listTeams.query())));

const countOf = async (api: Api, sql: string, { client }: Scene) =>
  (await api.rows<{ count: number }>(`select count(*)::int as count from ${sql}`, [client.id]))[0]?.count;

const ENDS = `audit_event where event = 'oauth_grant.revoked' and client_id = $1 and details->>'reason' = 'client deleted'`;

async function work(api: Api): Promise<void> {
  const mailer = createMailer(api.services.config);
  const worker = await startJobs(api.services, mailer, openLog('silent', process.stdout));
  onTestFinished(async () => {
    await worker.stop();
    mailer.close();
  });
}

describe('a client with more grants than one transaction deletes', () => {
  test.for([
    ['by its owner', ({ developer, client }: Scene, api: Api) => deleteAs(api, developer, client.id)],
    ['with the account of its owner', ({ developer }: Scene, api: Api) => deleteAccountOf(api, developer)],
  ] as const)('deleted %s, loses all access and is in no list at once', async ([, remove], { api }) => {
    const scene = await aLargeClient(api);
    expect(new Set(await outcomesOf(api, scene))).toEqual(new Set(['done']));

    await remove(scene, api);

    expect(await outcomesOf(api, scene)).toEqual([INVALID, INVALID, INVALID, INVALID]);
    const person = await as(api, scene.person);
    expect(await person.grants.list.query()).toEqual([]);
    const listed = await listAllClients(api.services.db);
    expect(listed.map(({ id }) => id)).not.toContain(scene.client.id);
    expect(await findClient(api.services.db, scene.client.id)).toBeUndefined();
    expect(await countOf(api, 'oauth_grant where client_id = $1', scene)).toBeGreaterThan(0);
  });

  test('is gone with all its rows once the job has run, which records the end of each grant once', async ({ api }) => {
    const scene = await aLargeClient(api);
    await deleteAs(api, scene.developer, scene.client.id);

    await work(api);

    await expect.poll(() => countOf(api, 'oauth_client where id = $1', scene)).toBe(0);
    expect(await countOf(api, 'oauth_grant where client_id = $1', scene)).toBe(0);
    expect(await countOf(api, ENDS, scene)).toBe(GRANTS + 3);
    expect(await countOf(api, `${ENDS} and actor_id = '${scene.developer.id}'`, scene)).toBe(GRANTS + 3);
    expect(await countOf(api, `audit_event where event = 'oauth_client.deleted' and client_id = $1`, scene)).toBe(1);
    const [key] = await api.rows<{ count: number }>(
      `select count(*)::int as count from audit_event where event = 'api_key.revoked' and target_id = $1`,
      [scene.credentials[3]?.id],
    );
    expect(key?.count).toBe(1);
  });

  test('is deleted by one of two calls at once, and not found by the other', async ({ api }) => {
    const scene = await aLargeClient(api);
    const developer = await as(api, scene.developer);
    const remove = () => outcomeOf(developer.oauthClients.delete.mutate({ clientId: scene.client.id }));

    expect((await Promise.all([remove(), remove()])).toSorted()).toEqual(['client_not_found', 'done']);
  });
});

const deleteAs = async (api: Api, account: { id: string }, clientId: string) =>
  (await as(api, account)).oauthClients.delete.mutate({ clientId });

const deleteAccountOf = async (api: Api, account: { id: string }) => (await as(api, account)).account.delete.mutate();

describe('an endpoint with more deliveries than one transaction deletes', () => {
  const DELIVERIES = 4100;

  test.for([
    ['itself', (person: Person, input: Input) => person.webhooks.delete.mutate(input)],
    ['its team', (person: Person, { teamId }: Input) => person.teams.delete.mutate({ teamId })],
    ['the account of its owner', (person: Person) => person.account.delete.mutate()],
  ] as const)('is gone at once with %s, and its deliveries once the job has run', async ([, remove], { api }) => {
    const owner = await api.anAccount();
    const { id: teamId } = await api.aTeam({ owner });
    const person = await as(api, owner);
    const { endpoint } = await person.webhooks.create.mutate({ teamId, url: 'https://example.com/hook' });
    const { endpointId } = endpoint;
    await api.rows(
      `insert into webhook_delivery (id, created_at, endpoint_id, event, state, due_at)
       select 'whd_' || $1 || n, now(), $1, 'team.updated', case when n < 100 then 'waiting' else 'delivered' end, now()
       from generate_series(1, ${DELIVERIES}) n`,
      [endpointId],
    );
    const count = async (table: string, column: string) =>
      (await api.rows<{ n: number }>(`select count(*)::int as n from ${table} where ${column} = $1`, [endpointId]))[0]
        ?.n;

    await remove(person, { teamId, endpointId });

    // In the background, and meanwhile nobody sees it: neither its team nor, as it has no team, the operators.
    expect(await count('webhook_delivery', 'endpoint_id')).toBe(DELIVERIES);
    const operator = await anOperator(api);
    expect(await operator.webhooks.list.query({ teamId: null })).toEqual([]);
    const hidden = { teamId: null, endpointId };
    expect(await outcomeOf(operator.webhooks.deliveries.query(hidden))).toBe('webhook_endpoint_not_found');
    expect(await outcomeOf(operator.webhooks.resume.mutate(hidden))).toBe('webhook_endpoint_not_found');
    expect(await readWebhookState(api.services.db)).toMatchObject({ disabled: 0, undeliveredSeconds: 0 });

    await work(api);

    await expect.poll(() => count('webhook_endpoint', 'id')).toBe(0);
    expect(await count('webhook_delivery', 'endpoint_id')).toBe(0);
  });
});

type Person = Awaited<ReturnType<typeof as>>;
type Input = { teamId: string; endpointId: string };

async function anOperator(api: Api): Promise<Person> {
  const account = await api.anAccount();
  await api.rows(`update account set role = 'admin' where id = $1`, [account.id]);
  return as(api, account);
}

describe('a team with thousands of grants', () => {
  test('is deleted with all of them, and records the end of each', async ({ api }) => {
    const owner = await api.anAccount();
    const team = await api.aTeam({ owner });
    const client = await api.anOAuthClient();
    const grant = await api.aGrant(owner, { client, team });
    await api.rows(
      `insert into oauth_grant (id, account_id, client_id, audience, team_id, scopes, created_at, expires_at)
       select format('grant_%s-%s', $1::text, n), $2, $3, 'team', $1, array['teams:read'], now(), now() + interval '90 days'
       from generate_series(1, 2500) n`,
      [team.id, owner.id, client.id],
    );

    await (await as(api, owner)).teams.delete.mutate({ teamId: team.id });

    expect(await outcomeOf(withKey(api, grant).listTeams.query())).toBe(INVALID);
    const [{ grants, ends } = { grants: -1, ends: -1 }] = await api.rows<{ grants: number; ends: number }>(
      `select (select count(*)::int from oauth_grant where team_id = $1) as grants,
         (select count(*)::int from audit_event where event = 'oauth_grant.revoked' and team_id = $1
            and details->>'reason' = 'team deleted') as ends`,
      [team.id],
    );
    expect({ grants, ends }).toEqual({ grants: 0, ends: 2501 });
  });
});

/** A team with more members than one statement deletes. */
async function aLargeTeam(api: Api) {
  const tenant = await aTenant(api);
  await api.rows(
    `with people as (
       insert into account (id, email, first_name, created_at, updated_at)
       select format('acc_%s-%s', $1::text, n), format('%s-%s@example.com', $1, n), 'A', now(), now() from generate_series(1, 300) n
       returning id
     )
     insert into membership (id, team_id, account_id, role_id, joined_at, created_at)
     select 'mem_' || id, $1, id, 'member', now(), now() from people`,
    [tenant.team.id],
  );
  return tenant;
}

// Guarantees that deletions, which take seconds, leave the connections for changes to others.
test('of many large teams that are deleted at once, one has a connection, and no account waits for it', async ({
  api,
}) => {
  const tenants = await Promise.all(Array.from({ length: 6 }, () => aLargeTeam(api)));
  const people = await Promise.all(tenants.map(({ owner }) => as(api, owner)));
  const lock = await holdLock(api, 'lock table api_key in access exclusive mode');
  const deletions = people.map((person, i) =>
    outcomeOf(person.teams.delete.mutate({ teamId: tenants[i]?.team.id ?? '' })),
  );
  await expect.poll(() => countLockWaits(api), { interval: 5 }).toBeGreaterThan(0);

  const waits: number[] = [];
  for (let i = 0; i < 20; i += 1) waits.push(await countLockWaits(api));
  expect(Math.max(...waits)).toBe(1);
  // It can be changed, and deleted.
  await api.rows(`begin; set local lock_timeout = '100ms';
    select from account where id in (select account_id from membership where role_id <> 'owner') for update; rollback`);
  await lock.release();

  expect(await Promise.all(deletions)).toEqual(people.map(() => 'done'));
  expect(await api.rows(`select from team where id = any($1)`, [tenants.map(({ team }) => team.id)])).toEqual([]);
});
