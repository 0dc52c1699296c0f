import pg from 'pg';
import { describe, expect, onTestFinished, vi } from 'vitest';
import { deleteAccount } from '../../src/resources/accounts/deletion.service.ts';
import { updateAccount } from '../../src/resources/accounts/accounts.service.ts';
import { startApi, testWith, type Api } from '../support/api.ts';
import { anInvitationWithLink, as } from '../trpc/console.ts';
import { anAddress } from '../trpc/people.ts';
import { anEndpoint, aReceiver, dispatch, eventually, numberEvents, stateOf } from '../webhooks/receiver.ts';
import { PATIENCE_MS } from '../support/patience.ts';

const test = testWith(() => startApi());

/** The types of the events that show a text. */
const showing = async (api: Api, text: string) =>
  (
    await api.rows<{ type: string }>(`select type from event_payload where data::text ilike '%' || $1 || '%'`, [text])
  ).map(({ type }) => type);

/**
 * Numbers events, and holds the numbering between what it reads and what it writes: a transaction of the test has
 * rows at the next positions.
 */
async function numberHeld(api: Api) {
  const client = new pg.Client(api.databaseUrl);
  await client.connect();
  onTestFinished(() => client.end());
  await client.query('begin');
  await client.query(
    `insert into event_payload (sequence, event_id, type, created_at)
     select (select coalesce(max(sequence), 0) from audit_link) + n, '', '', now() from generate_series(1, 100) n`,
  );
  const done = numberEvents(api);
  await waitsFor(api, `query like 'insert into event_payload%'`);
  return async () => {
    await client.query('rollback');
    await done;
  };
}

/** Waits until a statement of another connection waits for a lock. */
const waitsFor = (api: Api, condition: string) =>
  vi.waitFor(
    async () =>
      expect(
        await api.rows(
          `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'
           and ${condition}`,
        ),
      ).not.toEqual([]),
    { timeout: PATIENCE_MS, interval: 10 },
  );

describe('what events show of an account', () => {
  test('is erased with it, also if they are being numbered while it is deleted', async ({ api }) => {
    const [owner, account] = [await api.anAccount(), await api.anAccount({ email: anAddress() })];
    const team = await api.aTeam({ owner });
    await numberEvents(api);
    const trpc = await as(api, owner);
    const member = await as(api, account);
    const { invitation } = await trpc.invitations.create.mutate({ teamId: team.id, email: account.email });
    await api.rows('update invitation set accepted_at = now() where id = $1', [invitation.id]);
    await member.updateMe.mutate({ firstName: 'Ada', lastName: 'Lovelace' });

    const release = await numberHeld(api);
    const deleted = deleteAccount(api.services.db, 'system', account.id);
    const isDeleted = deleted.then(() => true);
    // It waits for the numbering; without that, it is over before the payloads are written.
    await Promise.race([isDeleted, waitsFor(api, `query like 'select pg_advisory_xact_lock_shared%'`)]);
    await release();
    await deleted;

    expect(await showing(api, account.email)).toEqual([]);
    expect(
      await api.rows('select 1 from event_payload where target_id = $1 and type = $2', [
        invitation.id,
        'invitation.created',
      ]),
    ).toHaveLength(1);
  });

  test('is erased in the transaction that deletes it, before the event of that has its place', async ({ api }) => {
    const account = await api.anAccount({ email: anAddress() });
    await (await as(api, account)).updateMe.mutate({ firstName: 'Ada', lastName: 'Lovelace' });
    await numberEvents(api);
    expect(await showing(api, account.email)).toContain('account.profile_changed');

    await deleteAccount(api.services.db, 'system', account.id);

    expect(await showing(api, account.email)).toEqual([]);
  });

  test('is erased with the account that it tells of, not with the one that acted; and with a team of its own', async ({
    api,
  }) => {
    const [owner, actor] = [await api.anAccount(), await api.anAccount({ email: anAddress() })];
    const team = await api.aTeam({ owner });
    const permissions = ['access_dashboard', 'edit_team_settings', 'invite_members', 'manage_api_keys'] as const;
    await api.aMember(team, actor, { role: (await api.aRole(team, permissions)).id });
    const [trpc, theirs] = [await as(api, owner), await as(api, actor)];
    const input = { teamId: team.id };
    await theirs.roles.create.mutate({ ...input, name: 'Reader', permissions: [] });
    await theirs.teams.updateDetails.mutate({ ...input, description: 'New' });
    await theirs.invitations.create.mutate({ ...input, email: anAddress() });
    await theirs.webhooks.create.mutate({ ...input, url: 'https://example.com/', types: ['team.updated'] });
    const key = { ...input, scopes: ['teams:read' as const] };
    const { key: kept } = await trpc.createApiKey.mutate({ ...key, name: 'Kept' });
    const { key: gone } = await theirs.createApiKey.mutate({ ...key, name: 'Gone' });
    await theirs.apiKeys.revokeInTeam.mutate({ ...input, keyId: kept.id });
    await trpc.apiKeys.revokeInTeam.mutate({ ...input, keyId: gone.id });
    const own = await theirs.createTeam.mutate({ name: 'Of one person' });
    await numberEvents(api);
    expect(await showing(api, own.name)).toEqual(['team.created']);

    await deleteAccount(api.services.db, 'system', actor.id);

    const shown = await api.rows<{ type: string; target_id: string | null; shows: boolean }>(
      `select type, target_id, data is not null as shows from event_payload where team_id = $1 order by sequence`,
      [team.id],
    );
    expect(shown).toEqual([
      { type: 'role.created', target_id: expect.anything(), shows: true },
      { type: 'team.updated', target_id: null, shows: true },
      { type: 'invitation.created', target_id: expect.anything(), shows: true },
      { type: 'webhook_endpoint.created', target_id: expect.anything(), shows: true },
      { type: 'api_key.created', target_id: kept.id, shows: true },
      { type: 'api_key.created', target_id: gone.id, shows: false },
      { type: 'api_key.revoked', target_id: kept.id, shows: true },
      { type: 'api_key.revoked', target_id: gone.id, shows: false },
    ]);
    expect(await showing(api, own.name)).toEqual([]);
  });

  test('is erased from invitations that were deleted without an event, such as those of a deleted team', async ({
    api,
  }) => {
    const [owner, account] = [await api.anAccount(), await api.anAccount({ email: anAddress() })];
    const team = await api.aTeam({ owner });
    const trpc = await as(api, owner);
    await trpc.invitations.create.mutate({ teamId: team.id, email: account.email.toUpperCase() });
    await numberEvents(api);
    await trpc.teams.delete.mutate({ teamId: team.id });
    await numberEvents(api);
    expect(await showing(api, account.email)).toEqual(['invitation.created']);

    await deleteAccount(api.services.db, 'system', account.id);

    expect(await showing(api, account.email)).toEqual([]);
  });

  test('is erased from accepted invitations to an address when the account leaves it', async ({ api }) => {
    const [owner, account] = [await api.anAccount(), await api.anAccount({ email: anAddress() })];
    const [team, other] = [await api.aTeam({ owner }), await api.aTeam({ owner })];
    const trpc = await as(api, owner);
    await trpc.invitations.create.mutate({ teamId: team.id, email: account.email });
    await trpc.invitations.create.mutate({ teamId: other.id, email: account.email });
    await api.rows('update invitation set accepted_at = now() where team_id = $1', [team.id]);
    await numberEvents(api);

    await updateAccount(api.services.db, 'system', api.services, account.id, {
      email: anAddress(),
      isEmailVerified: true,
    });

    const rows = await api.rows<{ team_id: string; erased: boolean }>(
      `select team_id, data is null as erased from event_payload where type = 'invitation.created' and team_id = any($1)`,
      [[team.id, other.id]],
    );
    expect(Object.fromEntries(rows.map((row) => [row.team_id, row.erased]))).toEqual({
      [team.id]: true,
      [other.id]: false,
    });
  });
});

describe('the answer of a receiver', () => {
  /** A receiver that answers what it got. */
  async function echo(hold: Promise<void> = Promise.resolve()) {
    const bodyOf = (id: unknown) => receiver.received.find(({ headers }) => headers['webhook-id'] === id)?.body;
    const receiver = await aReceiver((req, res) => void hold.then(() => res.end(bodyOf(req.headers['webhook-id']))));
    return receiver;
  }
  const answers = (api: Api, endpointId: string) =>
    api.rows<{ event: string; answer: string | null; status: number }>(
      `select d.event, a.answer, a.status from webhook_attempt a join webhook_delivery d on d.id = a.delivery_id
       where d.endpoint_id = $1 order by a.id`,
      [endpointId],
    );

  test('is erased with the account that the delivery tells of; that of other deliveries stays', async ({ api }) => {
    const receiver = await echo();
    const { trpc, team, teamId, endpointId } = await anEndpoint(api, receiver.url);
    const [member, invited] = [
      await api.anAccount({ email: anAddress() }),
      await api.anAccount({ email: anAddress() }),
    ];
    await api.aMember(team, member);
    dispatch(api);
    await trpc.members.deactivate.mutate({ teamId, userId: member.id });
    await anInvitationWithLink(api, team, { email: anAddress() });
    await trpc.invitations.create.mutate({ teamId, email: invited.email });
    await numberEvents(api);
    await eventually(async () => {
      const states = (await stateOf(api, endpointId)).map(({ state }) => state);
      expect(states).toEqual(['delivered', 'delivered', 'delivered']);
    });
    for (const { email } of [member, invited])
      expect((await answers(api, endpointId)).filter(({ answer }) => answer?.includes(email))).toHaveLength(1);

    for (const { id } of [member, invited]) await deleteAccount(api.services.db, 'system', id);

    const left = await answers(api, endpointId);
    expect(left.filter(({ answer }) => answer?.includes(member.email) || answer?.includes(invited.email))).toEqual([]);
    expect(left.find(({ event }) => event === 'webhook_endpoint.created')?.answer).toContain(teamId);
    expect(left.every(({ status }) => status === 200)).toBe(true);
  });

  test('is not kept if the account was deleted while the receiver was answering', async ({ api }) => {
    const hold = Promise.withResolvers<void>();
    const receiver = await echo(hold.promise);
    const { trpc, team, teamId, endpointId } = await anEndpoint(api, receiver.url);
    const member = await api.anAccount({ email: anAddress() });
    await api.aMember(team, member);
    await trpc.members.deactivate.mutate({ teamId, userId: member.id });
    await numberEvents(api);
    dispatch(api);
    await eventually(() => expect(receiver.received.some(({ body }) => body.includes(member.email))).toBe(true));

    await deleteAccount(api.services.db, 'system', member.id);
    hold.resolve();
    await eventually(async () => {
      const states = (await stateOf(api, endpointId)).filter(({ event }) => event === 'member.deactivated');
      expect(states).toMatchObject([{ state: 'delivered' }]);
    });

    const kept = await answers(api, endpointId);
    expect(kept.find(({ event }) => event === 'member.deactivated')).toMatchObject({ answer: null, status: 200 });
    expect(kept.filter(({ answer }) => answer?.includes(member.email))).toEqual([]);
  });
});
