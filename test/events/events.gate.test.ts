import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { describe, expect, vi } from 'vitest';
import { currentActor, runAs } from '../../src/events/actor.ts';
import type { Audit } from '../../src/events/event.ts';
import { inChange } from '../support/in-change.ts';
import { appRouter } from '../../src/router.ts';
import { ALL_SCOPES, OPERATIONS } from '../rest/operations.ts';
import { withKey, type Trpc } from '../trpc/console.ts';
import { allMailed } from '../trpc/people.ts';
import { test, type Api } from '../support/api.ts';
import { eventsOf, OWN_ID, recordedBy } from './events.ts';
import { aScene, MUTATIONS, OF_OPERATOR_KEYS, UNRECORDED } from './mutations.ts';

const procedures = Object.entries(appRouter._def.procedures) as unknown as [string, { _def: { type: string } }][]; // flat by path, which the type of a nested router does not say

// Guarantees that no change is added without its event.
test('every change of the router is in the table', () => {
  const mutations = procedures.filter(([, { _def }]) => _def.type === 'mutation').map(([name]) => name);

  const known = [...MUTATIONS.map(([name]) => name), ...OF_OPERATOR_KEYS, ...UNRECORDED];
  expect(known.toSorted()).toEqual(mutations.toSorted());
});

describe.for(MUTATIONS)('%s', ([name, names, prepare]) => {
  test('is recorded once, with who did it, from where and by which request', async ({ api }) => {
    const scene = await aScene(api);
    const { visitor = scene.owner.visitor, call } = await prepare(scene);

    const events = await recordedBy(api, visitor, async () => {
      await call(visitor.trpc);
      if (names.includes('account.link_emailed')) await allMailed(api); // a job finds the account
    });

    expect(events.map(({ event }) => event).toSorted()).toEqual([...names].toSorted());
    if (events.length > 0) expect(new Set(events.map(({ request_id }) => request_id)).size).toBe(1);
    for (const event of events) {
      expect(event.request_id).toMatch(OWN_ID);
      const isSignedIn = visitor === scene.owner.visitor || event.actor_id === scene.member.id;
      expect(event).toMatchObject({ address: '127.0.0.1', count: 1 });
      if (isSignedIn)
        expect(event).toMatchObject({
          actor_kind: name.startsWith('operator.') ? 'operator_session' : 'session',
          credential_id: expect.stringMatching(/^ses_/),
        });
      // What operators do is about an account only if it names one.
      if (event.event !== 'invitation.declined' && !name.startsWith('operator.'))
        expect(event.account_id).toEqual(expect.any(String));
      const isPrivate = event.event.includes('.private_');
      if (isPrivate) expect([event.team_id, event.account_id]).toEqual([null, null]);
      else if (/^(team|member|role|invitation|ownership)\./.test(event.event))
        expect(event.team_id).toEqual(expect.any(String));
      // Consent is given or denied to a client; a grant exists once its code is exchanged.
      if (/^oauth_grant\.(approved|denied)$/.test(event.event)) expect(event.client_id).toEqual(expect.any(String));
      else if (isPrivate || /^(session|passkey|role|invitation|api_key|oauth_grant)/.test(event.event))
        expect(event.target_id).toEqual(expect.any(String));
      expect(JSON.stringify(event)).not.toMatch(/@|rst_/);
    }
  });
});

describe('a change over REST', () => {
  test.for(OPERATIONS.filter(({ method }) => method !== 'GET'))(
    '$id is recorded with its key and its request',
    async ({ id, method, path, status, body }, { api }) => {
      const { owner, team, member } = await aScene(api);
      const key = await api.anApiKey(owner, { scopes: ALL_SCOPES });
      const target = path
        .replace('{teamId}', team.id)
        .replace('{userId}', member.id)
        .replace('{sessionId}', (await api.aSession(owner)).id)
        .replace('{invitationId}', (await api.anInvitation(team)).id)
        .replace('{keyId}', (await api.anApiKey(owner)).id);
      const requestId = `rest-${id}`;

      const answer = await api.as(key).send({
        method,
        path: target,
        headers: {
          'x-request-id': requestId,
          'content-type': 'application/json',
          authorization: `Bearer ${key.secret}`,
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });

      expect(answer.status).toBe(status);
      const events = await eventsOf(api, requestId);
      expect(events.map(({ event }) => event)).toEqual(MUTATIONS.find(([name]) => name === id)?.[1]);
      const actor = { actor_kind: 'api_key', actor_id: owner.id, credential_id: key.id, address: '127.0.0.1' };
      for (const event of events) expect(event).toMatchObject({ ...actor, request_id: expect.stringMatching(OWN_ID) });
    },
  );
});

describe('what ends with something else', () => {
  test('is recorded by itself: the keys and grants of a removed member', async ({ api }) => {
    const { owner, team, member } = await aScene(api);
    const key = await api.anApiKey(member, { team });
    const grant = await api.aGrant(member, { team });
    const made = await api.anApiKey(member, { team });
    await api.rows('update api_key set oauth_grant_id = $2 where id = $1', [made.id, grant.id]);

    const events = await recordedBy(api, owner.visitor, () =>
      owner.visitor.trpc.removeTeamMember.mutate({ teamId: team.id, userId: member.id }),
    );

    const about = { actor_id: owner.id, account_id: member.id, team_id: team.id };
    expect(events.map(({ event }) => event).toSorted()).toEqual([
      'api_key.revoked',
      'api_key.revoked',
      'member.removed',
      'oauth_grant.revoked',
    ]);
    for (const event of events) expect(event).toMatchObject(about);
    expect(events.map(({ target_id }) => target_id)).toEqual(expect.arrayContaining([key.id, made.id, grant.id]));
  });
});

// Guarantees the cost that the decisions name.
describe('the cost of a record', () => {
  async function statementsOf(api: Api, call: (trpc: Trpc, team: { id: string }) => Promise<unknown>) {
    const owner = await api.anAccount();
    const team = await api.aTeam({ owner });
    const trpc = withKey(api, await api.anApiKey(owner, { scopes: ALL_SCOPES }));
    await call(trpc, team);
    await api.usage.flush();
    const queries = vi.spyOn(pg.Client.prototype, 'query').mockClear();
    await call(trpc, team);
    return queries.mock.calls
      .map(([query]: unknown[]) => (typeof query === 'string' ? query : (query as { text: string }).text)) // pg takes either
      .filter((text) => /audit_/.test(text));
  }

  test('is nothing where the change is one statement: it is the same one', async ({ api }) => {
    const statements = await statementsOf(api, (trpc, { id }) =>
      trpc.updateTeam.mutate({ teamId: id, name: randomUUID() }),
    );

    expect(statements).toEqual([expect.stringMatching(/^with changed as \(update team/)]);
  });

  test('is one insert where the change is made through entities', async ({ api }) => {
    const statements = await statementsOf(api, (trpc, { id }) =>
      trpc.roles.create.mutate({ teamId: id, name: randomUUID(), permissions: [] }),
    );

    expect(statements).toEqual([expect.stringMatching(/^insert into audit_event /)]);
  });
});

describe('the line in the log', () => {
  test('is written after the commit, with the row', async ({ api }) => {
    const audit = vi.fn<Audit>();
    await runAs({ ...currentActor(), audit }, () =>
      inChange(api.services.db, async ({ record, run }) => {
        record('team.deleted', { teamId: 'team_logged' });
        await run([]);
        expect(audit).not.toHaveBeenCalled();
      }),
    );

    expect(audit).toHaveBeenCalledExactlyOnceWith('team.deleted', { teamId: 'team_logged' });
    expect(await api.rows(`select event from audit_event where team_id = 'team_logged'`)).toHaveLength(1);
  });

  test('is not written if the transaction is rolled back, nor is the row', async ({ api }) => {
    const audit = vi.fn<Audit>();
    const rolledBack = runAs({ ...currentActor(), audit }, () =>
      inChange(api.services.db, async ({ record, run }) => {
        record('team.deleted', { teamId: 'team_rolled_back' });
        await run([]);
        throw new Error('rolled back');
      }),
    );

    await expect(rolledBack).rejects.toThrow('rolled back');
    expect(audit).not.toHaveBeenCalled();
    expect(await api.rows(`select event from audit_event where team_id = 'team_rolled_back'`)).toEqual([]);
  });
});

describe('a change that fails', () => {
  test('is not recorded', async ({ api }) => {
    const { owner, team } = await aScene(api);

    const events = await recordedBy(api, owner.visitor, () =>
      owner.visitor.trpc.removeTeamMember.mutate({ teamId: team.id, userId: owner.id }).then(
        () => expect.unreachable(),
        () => undefined,
      ),
    );

    expect(events).toEqual([]);
  });

  test('is not recorded where one statement does both', async ({ api }) => {
    const { owner } = await aScene(api);

    const events = await recordedBy(api, owner.visitor, () =>
      owner.visitor.trpc.revokeMySession.mutate({ sessionId: 'nothing' }),
    );

    expect(events).toEqual([]);
  });
});

describe('the rows', () => {
  test.for([
    ['update', `update audit_event set event = 'x'`],
    ['delete', 'delete from audit_event'],
    ['truncate', 'truncate audit_event'],
    ['update of the chain', 'update audit_link set hash = hash'],
    ['deletion of a checkpoint', 'delete from audit_checkpoint'],
  ] as const)('no %s changes them', async ([, sql], { api }) => {
    await aScene(api);
    await expect(api.rows(sql)).rejects.toThrow('is append-only');
  });
});
