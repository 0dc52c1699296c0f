import { describe, expect } from 'vitest';
import { appRouter } from '../../src/router.ts';
import { ALL_SCOPES, OPERATIONS } from '../rest/operations.ts';
import { test } from '../support/api.ts';
import { eventsOf, recordedBy } from './events.ts';
import { aScene, MUTATIONS, UNRECORDED } from './mutations.ts';

const procedures = Object.entries(appRouter._def.procedures) as unknown as [string, { _def: { type: string } }][]; // flat by path, which the type of a nested router does not say

// Guarantees that nobody adds a change and forgets its record.
test('every change of the router is in the table', () => {
  const mutations = procedures.filter(([, { _def }]) => _def.type === 'mutation').map(([name]) => name);

  expect([...MUTATIONS.map(([name]) => name), ...UNRECORDED].toSorted()).toEqual(mutations.toSorted());
});

describe.for(MUTATIONS)('%s', ([, names, prepare]) => {
  test('is recorded once, with who did it, from where and by which request', async ({ api }) => {
    const scene = await aScene(api);
    const { visitor = scene.owner.visitor, call } = await prepare(scene);

    const events = await recordedBy(api, visitor, () => call(visitor.trpc));

    expect(events.map(({ event }) => event).toSorted()).toEqual([...names].toSorted());
    for (const event of events) {
      const isSignedIn = visitor === scene.owner.visitor || event.actor_id === scene.member.id;
      expect(event).toMatchObject({ address: '127.0.0.1', count: 1 });
      if (isSignedIn)
        expect(event).toMatchObject({ actor_kind: 'session', credential_id: expect.stringMatching(/^ses_/) });
      if (event.event !== 'invitation.declined') expect(event.account_id).toEqual(expect.any(String));
      if (/^(team|member|role|invitation|ownership)/.test(event.event))
        expect(event.team_id).toEqual(expect.any(String));
      if (
        /^(session|passkey|role|invitation|api_key|oauth_grant)/.test(event.event) &&
        event.event !== 'oauth_grant.denied'
      )
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
      expect(events).toMatchObject([
        { actor_kind: 'api_key', actor_id: owner.id, credential_id: key.id, address: '127.0.0.1' },
      ]);
    },
  );
});

describe('a change that is not made', () => {
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
