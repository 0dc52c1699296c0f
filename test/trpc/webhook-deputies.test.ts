import { describe, expect } from 'vitest';
import type { AnyTRPCProcedure } from '@trpc/server';
import { migrate } from '../../src/db/migrate.ts';
import { PERMISSIONS, type Permission } from '../../src/entities/index.ts';
import { appRouter } from '../../src/router.ts';
import { TEAM_TYPES, requiredPermission } from '../../src/webhooks/types.ts';
import { test, type Api } from '../support/api.ts';
import { as, outcomeOf, type Trpc } from './console.ts';

const URL = 'https://receiver.example/hook';
const THEIRS = 'https://elsewhere.example/hook';

/** The owner's endpoint, and an editor of the team who may not see invitations. */
async function aScene(api: Api, types: string[] = [], held: readonly Permission[] = ['edit_team_settings']) {
  const owner = await api.anAccount();
  const team = await api.aTeam({ owner });
  const editor = await api.anAccount();
  await api.aMember(team, editor, { role: (await api.aRole(team, held)).id });
  const [owners, editors] = [await as(api, owner), await as(api, editor)];
  const { endpoint } = await owners.webhooks.create.mutate({ teamId: team.id, url: URL, types: types as never[] });
  const input = { teamId: team.id, endpointId: endpoint.endpointId };
  return { owner, editor, team, teamId: team.id, owners, editors, input };
}

const stateOf = (api: Api, { endpointId }: { endpointId: string }) =>
  api.rows<{ account_id: string }>(
    'select url, types, secret, previous_secret, account_id from webhook_endpoint where id = $1',
    [endpointId],
  );

/** Deliveries of an event of each given type, which failed after the receiver repeated what it got. */
async function someFailed(api: Api, { endpointId }: { endpointId: string }, types: readonly string[]) {
  const ids = types.map((type, i) => `whd_${endpointId}_${i}_${type}`);
  for (const [i, id] of ids.entries()) {
    await api.rows(
      `insert into webhook_delivery (id, created_at, endpoint_id, event_id, event, state, due_at)
       values ($1, now(), $2, $1, $3, 'failed', now())`,
      [id, endpointId, types[i]],
    );
    await api.rows(
      `insert into webhook_attempt (id, created_at, delivery_id, status, duration_ms, answer) values ($1, now(), $1, 500, 1, $2)`,
      [id, `echo of ${types[i]}`],
    );
  }
  return ids;
}

const waiting = async (api: Api, { endpointId }: { endpointId: string }) =>
  (
    await api.rows<{ event: string }>(
      `select event from webhook_delivery where endpoint_id = $1 and state = 'waiting' order by event`,
      [endpointId],
    )
  ).map(({ event }) => event);

const procedures = Object.entries(appRouter._def.procedures as unknown as Record<string, AnyTRPCProcedure>); // flat by path, which the type of a nested router does not say
const MUTATIONS = procedures.filter(([path, { _def }]) => path.startsWith('webhooks.') && _def.type === 'mutation');

describe('an endpoint with types that its editor may not see', () => {
  // Guarantees that nobody gets through an endpoint of somebody else what they may not see, whatever they call.
  test.for(MUTATIONS.map(([path]) => path.replace('webhooks.', '') as keyof Trpc['webhooks']))(
    'is not pointed elsewhere, widened, given another secret or made to repeat what they may not see by webhooks.%s',
    async (name, { api }) => {
      const { editors, input, owner } = await aScene(api);
      const [deliveryId] = await someFailed(api, input, ['invitation.created']);
      const before = await stateOf(api, input);
      const since = new Date(Date.now() - 3_600_000).toISOString();
      const { mutate } = editors.webhooks[name] as unknown as { mutate: (given: object) => Promise<unknown> };

      for (const given of [{ url: THEIRS }, { types: ['invitation.created'] }, { types: [] }, {}])
        await outcomeOf(mutate({ ...input, deliveryId, since, overlapHours: 0, ...given }));

      // A deleted one is nobody's.
      const account_id = name === 'delete' ? null : owner.id;
      expect(await stateOf(api, input)).toEqual([{ ...before[0], account_id }]);
      expect(await waiting(api, input)).not.toContain('invitation.created');
    },
  );

  test('is not created either, with these types or with all', async ({ api }) => {
    const { editors, teamId } = await aScene(api);

    for (const types of [[], ['team.updated', 'invitation.created']] as const)
      expect(await outcomeOf(editors.webhooks.create.mutate({ teamId, url: THEIRS, types: [...types] }))).toBe(
        'permission_missing',
      );
    expect(await api.rows('select url from webhook_endpoint where team_id = $1', [teamId])).toEqual([{ url: URL }]);
  });

  test.for(PERMISSIONS.filter((permission) => TEAM_TYPES.some((type) => requiredPermission(type) === permission)))(
    'with all types needs %s',
    async (permission, { api }) => {
      const held = PERMISSIONS.filter((each) => each !== permission);
      const { editors, teamId, input } = await aScene(api, [], held);

      expect(await outcomeOf(editors.webhooks.create.mutate({ teamId, url: THEIRS }))).toBe('permission_missing');
      expect(await outcomeOf(editors.webhooks.rotateSecret.mutate(input))).toBe('permission_missing');
    },
  );
});

describe('an endpoint with types that its editor may see', () => {
  test.for([
    ['its URL', { url: THEIRS }],
    ['its URL, which stays the same', { url: URL }],
    ['its types', { types: ['team.updated' as const] }],
  ] as const)('is taken over by who sets %s', async ([, change], { api }) => {
    const { editors, input, editor } = await aScene(api, ['team.updated']);

    expect(await editors.webhooks.update.mutate({ ...input, ...change, types: ['team.updated'] })).toMatchObject({
      responsibleAccountId: editor.id,
    });
  });

  test('is taken over by who rotates its secret, and by nobody who pauses, resumes or tests it', async ({ api }) => {
    const { editors, owner, editor, input } = await aScene(api, ['team.updated']);

    await editors.webhooks.pause.mutate(input);
    expect(await editors.webhooks.resume.mutate(input)).toMatchObject({ responsibleAccountId: owner.id });
    await editors.webhooks.sendTest.mutate(input);
    expect(await editors.webhooks.update.mutate(input)).toMatchObject({ responsibleAccountId: owner.id });
    const { endpoint } = await editors.webhooks.rotateSecret.mutate(input);
    expect(endpoint).toMatchObject({ responsibleAccountId: editor.id });
  });
});

describe('a replay', () => {
  test('of one delivery is for who may see its event', async ({ api }) => {
    const { editors, owners, input } = await aScene(api);
    const [invited = '', updated = ''] = await someFailed(api, input, ['invitation.created', 'team.updated']);

    expect(await outcomeOf(editors.webhooks.replay.mutate({ ...input, deliveryId: invited }))).toBe(
      'permission_missing',
    );
    expect(await outcomeOf(editors.webhooks.replay.mutate({ ...input, deliveryId: updated }))).toBe('done');
    expect(await waiting(api, input)).toEqual(['team.updated']);
    expect(await outcomeOf(owners.webhooks.replay.mutate({ ...input, deliveryId: invited }))).toBe('done');
  });

  test('of all that failed leaves out what the caller may not see', async ({ api }) => {
    const { editors, owners, input } = await aScene(api);
    await someFailed(api, input, ['invitation.created', 'team.updated', 'invitation.sent_again', 'webhook.test']);
    const since = new Date(Date.now() - 3_600_000).toISOString();

    expect(await editors.webhooks.replayFailed.mutate({ ...input, since })).toEqual({ replayed: 2 });
    expect(await waiting(api, input)).toEqual(['team.updated', 'webhook.test']);
    expect(await owners.webhooks.replayFailed.mutate({ ...input, since })).toEqual({ replayed: 2 });
  });
});

test('the answers of a receiver are shown to who may see the event', async ({ api }) => {
  const { editors, owners, input } = await aScene(api);
  await someFailed(api, input, ['invitation.created', 'team.updated']);
  const shownTo = async ({ webhooks }: Trpc) =>
    (await webhooks.deliveries.query(input)).deliveries.flatMap(({ attempts }) => attempts.map(({ answer }) => answer));

  expect(await shownTo(editors)).toEqual(['echo of team.updated', null]);
  expect(await shownTo(owners)).toEqual(['echo of team.updated', 'echo of invitation.created']);
});

test('webhooks.types says which types the caller may ask for', async ({ api }) => {
  const { editors, owners, teamId } = await aScene(api);
  const available = async ({ webhooks }: Trpc) =>
    (await webhooks.types.query({ teamId })).filter(({ isAvailable }) => isAvailable).map(({ type }) => type);

  expect(await available(owners)).toEqual(TEAM_TYPES);
  const seen = TEAM_TYPES.filter((type) => [null, 'edit_team_settings'].includes(requiredPermission(type)));
  expect(await available(editors)).toEqual(seen);
});

// Guarantees that an endpoint that was pointed elsewhere before the upgrade does not stay a deputy.
test('the upgrade makes responsible who last set URL, types or secret, as far as the log says', async ({ api }) => {
  const scenes = [
    await aScene(api, [], PERMISSIONS),
    await aScene(api, [], PERMISSIONS),
    await aScene(api, [], PERMISSIONS),
  ];
  const [moved, resumed, forgotten] = scenes as [(typeof scenes)[0], (typeof scenes)[0], (typeof scenes)[0]];
  await moved.editors.webhooks.update.mutate({ ...moved.input, url: THEIRS });
  await resumed.editors.webhooks.pause.mutate(resumed.input);
  const { endpointId: old } = forgotten.input;
  await api.rows(`update webhook_endpoint set account_id = $2 where id = $1`, [moved.input.endpointId, moved.owner.id]);
  await api.rows(`update webhook_endpoint set account_id = $2 where id = $1`, [
    resumed.input.endpointId,
    resumed.editor.id,
  ]);
  await api.rows(`update webhook_endpoint set id = 'whe_old' where id = $1`, [old]);
  await api.rows(`delete from mikro_orm_migrations where name = 'Migration20261123180311_responsible_members'`);

  await migrate(api.databaseUrl);

  const responsible = async (endpointId: string) => (await stateOf(api, { endpointId }))[0]?.account_id;
  expect(await responsible(moved.input.endpointId)).toBe(moved.editor.id);
  expect(await responsible(resumed.input.endpointId)).toBe(resumed.owner.id);
  expect(await responsible('whe_old')).toBe(forgotten.owner.id);
});
