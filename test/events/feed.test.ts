import { expect, describe } from 'vitest';
import { numberEvents } from '../../src/events/chain/append.ts';
import { emitNumbered } from '../../src/events/wake.ts';
import { deleteAccount } from '../../src/resources/accounts/deletion.service.ts';
import { aScene } from './mutations.ts';
import { as, outcomeOf, withKey } from '../trpc/console.ts';
import { test, type Api } from '../support/api.ts';

const log = { info: () => undefined, warn: () => undefined, error: () => undefined };

const number = async ({ services }: Api) => {
  while ((await numberEvents(services, log)).outcome === 'more');
  emitNumbered(services.db);
};

/** A team with some history: renamed, a role made, somebody invited. */
async function aHistory(api: Api) {
  const scene = await aScene(api);
  const { owner, team } = scene;
  const { trpc } = owner.visitor;
  await number(api);
  const { cursor } = await trpc.events.list.query({ teamId: team.id, limit: 100 });
  await trpc.updateTeam.mutate({ teamId: team.id, name: 'Renamed' });
  const { roleId } = await trpc.roles.create.mutate({
    teamId: team.id,
    name: 'Editors',
    permissions: ['invite_members'],
  });
  const invited = await api.anAccount();
  const { invitation } = await trpc.invitations.create.mutate({ teamId: team.id, email: invited.email });
  await number(api);
  return { ...scene, trpc, cursor, roleId, invited, invitation };
}

describe('the feed of a team', () => {
  test('has its events in their order, with what they are about, and goes on after its cursor', async ({ api }) => {
    const { trpc, team, cursor, roleId, invitation, invited } = await aHistory(api);

    const all = await trpc.events.list.query({ teamId: team.id, after: cursor });
    const first = await trpc.events.list.query({ teamId: team.id, after: cursor, limit: 2 });
    const rest = await trpc.events.list.query({ teamId: team.id, after: first.cursor, limit: 2 });

    expect(all.events).toMatchObject([
      { type: 'team.renamed', version: 1, teamId: team.id, data: { team: { id: team.id, name: 'Renamed' } } },
      { type: 'role.created', target: { type: 'role', id: roleId }, data: { role: { name: 'Editors' } } },
      { type: 'invitation.created', data: { invitation: { id: invitation.id, email: invited.email } } },
    ]);
    expect(all.hasMore).toBe(false);
    expect([...first.events, ...rest.events]).toEqual(all.events);
    expect(first.hasMore).toBe(true);
    expect((await trpc.events.list.query({ teamId: team.id, after: all.cursor })).events).toEqual([]);
    const some = await trpc.events.list.query({ teamId: team.id, after: cursor, types: ['role.created'] });
    expect(some.events.map(({ type }) => type)).toEqual(['role.created']);
  });

  test('is for members who may edit it, and has only what the role and the scopes show elsewhere', async ({ api }) => {
    const { team, member, owner, cursor } = await aHistory(api);
    const editor = await api.anAccount();
    await api.aMember(team, editor, { role: (await api.aRole(team, ['edit_team_settings'])).id });
    const stranger = await api.anAccount();
    const list = async (account: { id: string }) =>
      (await as(api, account)).events.list.query({ teamId: team.id, after: cursor });

    expect(await outcomeOf(list(member))).toContain('permission_missing');
    expect(await outcomeOf(list(stranger))).toContain('team_not_found');
    expect((await list(editor)).events.map(({ type }) => type)).toEqual(['team.renamed']);
    const key = withKey(api, await api.anApiKey(owner, { scopes: ['teams:read'], team }));
    const { events } = await key.events.list.query({ teamId: team.id, after: cursor });
    expect(events.map(({ type }) => type)).toEqual(['team.renamed']);
  });

  test('has nothing of another team, and nothing more for who was removed', async ({ api }) => {
    const { team, cursor } = await aHistory(api);
    const other = await aHistory(api);
    const { events } = await other.trpc.events.list.query({ teamId: other.team.id, after: cursor });
    expect(new Set(events.map(({ teamId }) => teamId))).toEqual(new Set([other.team.id]));

    await api.aMember(team, other.owner, { role: (await api.aRole(team, ['edit_team_settings'])).id });
    const waiting = other.trpc.events.list.query({ teamId: team.id, after: other.cursor, wait: 3 });
    await api.rows('delete from membership where team_id = $1 and account_id = $2', [team.id, other.owner.id]);
    expect(await outcomeOf(waiting)).toContain('team_not_found');
  });

  test('waits for something new, and no longer than it was asked to', async ({ api }) => {
    const { trpc, team } = await aHistory(api);
    const { cursor } = await trpc.events.list.query({ teamId: team.id, limit: 100 });

    const waiting = trpc.events.list.query({ teamId: team.id, after: cursor, wait: 20 });
    await trpc.updateTeam.mutate({ teamId: team.id, name: 'While it waits' });
    await number(api);

    const page = await waiting;
    expect(page.events).toMatchObject([{ data: { team: { name: 'While it waits' } } }]);
    expect((await trpc.events.list.query({ teamId: team.id, after: page.cursor, wait: 1 })).events).toEqual([]);
  });
});

describe('a cursor', () => {
  test('that is too old is told with the oldest, which works', async ({ api }) => {
    const { trpc, team, cursor, owner } = await aHistory(api);
    await api.rows('update audit_head set feed_start = sequence');
    const [start] = await api.rows<{ start: string }>('select feed_start as start from audit_head');
    await trpc.updateTeam.mutate({ teamId: team.id, name: 'After it' });
    await number(api);
    const input = encodeURIComponent(JSON.stringify({ teamId: team.id, after: cursor }));

    const { status, body } = await api
      .as(await api.anApiKey(owner, { scopes: ['teams:read'] }))
      .get(`/trpc/events.list?input=${input}`);

    expect(status).toBe(410);
    const { problem } = body.error.data;
    expect(problem).toMatchObject({ status: 410, code: 'cursor_expired', oldestCursor: expect.any(String) });
    const page = await trpc.events.list.query({ teamId: team.id, after: problem.oldestCursor });
    expect(page.events).toMatchObject([{ data: { team: { name: 'After it' } } }]);
    expect(start?.start).not.toBe('0');
    await api.rows('update audit_head set feed_start = 0');
  });

  test('of a state that was put back by a restore is too', async ({ api }) => {
    const { trpc, team, cursor } = await aHistory(api);
    await api.rows('alter table audit_link disable trigger user');
    const last = 'sequence = (select max(sequence) from audit_link)';
    const { cursor: end } = await trpc.events.list.query({ teamId: team.id, after: cursor });
    const [kept] = await api.rows<{ hash: string }>(`select encode(hash, 'hex') as hash from audit_link where ${last}`);
    await api.rows(`update audit_link set hash = sha256('x') where ${last}`);

    expect(await outcomeOf(trpc.events.list.query({ teamId: team.id, after: end }))).toContain('cursor_expired');

    await api.rows(`update audit_link set hash = decode($1, 'hex') where ${last}`, [kept?.hash]);
    await api.rows('alter table audit_link enable trigger user');
  });

  test.for(['', 'x', 'AAAAAAAAAAAAAAAAAAAAAA', 'evt_0', '1'])(
    'that is none, %j, is a 400 or 410',
    async (after, { api }) => {
      const { trpc, team } = await aHistory(api);
      expect(await outcomeOf(trpc.events.list.query({ teamId: team.id, after }))).toMatch(
        /validation_failed|cursor_expired/,
      );
    },
  );
});

describe('the feeds of an account and of the operator', () => {
  test('have what is about the account alone, and everything', async ({ api }) => {
    const { trpc, owner, team, cursor, member } = await aHistory(api);
    await trpc.updateMe.mutate({ firstName: 'Ada', lastName: 'Lovelace' });
    const memberTrpc = await as(api, member);
    await memberTrpc.updateMe.mutate({ firstName: 'Ida', lastName: 'Rhodes' });
    await number(api);

    const own = await trpc.events.listMine.query({ after: cursor, limit: 100 });
    expect(own.events).toMatchObject([{ type: 'account.profile_changed', data: { account: { firstName: 'Ada' } } }]);
    const refused = await outcomeOf(trpc.events.listAll.query({ after: cursor }));
    await api.rows(`update account set role = 'admin' where id = $1`, [owner.id]);
    const all = await trpc.events.listAll.query({ after: cursor, limit: 100 });
    const ofTeam = await trpc.events.listAll.query({ after: cursor, teamId: team.id, limit: 100 });

    expect(refused).toContain('route_not_found');
    expect(
      all.events.filter(({ type }) => type === 'account.profile_changed').map(({ accountId }) => accountId),
    ).toEqual([owner.id, member.id]);
    expect(ofTeam.events.map(({ type }) => type)).toEqual(['team.renamed', 'role.created', 'invitation.created']);
  });
});

describe('what a feed shows of somebody', () => {
  test('is erased with the account, also from invitations to its address; ids stay', async ({ api }) => {
    const { trpc, team, cursor, invited, member } = await aHistory(api);
    await trpc.members.deactivate.mutate({ teamId: team.id, userId: member.id });
    await number(api);
    const shown = async () => {
      const { events } = await trpc.events.list.query({ teamId: team.id, after: cursor, limit: 100 });
      return Object.fromEntries(events.map(({ type, data }) => [type, data]));
    };
    expect(await shown()).toMatchObject({
      'member.deactivated': { member: { email: member.email } },
      'invitation.created': { invitation: { email: invited.email } },
    });

    for (const { id } of [member, invited]) await deleteAccount(api.services.db, 'system', id);
    await number(api);

    expect(await shown()).toMatchObject({
      'member.deactivated': null,
      'invitation.created': null,
      'member.left': null,
    });
    const rows = await api.rows<{ row: string }>('select p::text as row from event_payload p');
    expect(rows.filter(({ row }) => row.includes(member.email) || row.includes(invited.email))).toEqual([]);
  });

  test('never is a secret', async ({ api }) => {
    const { trpc } = await aHistory(api);
    const { secret } = await trpc.createApiKey.mutate({ name: 'A key', scopes: ['teams:read'] });
    await number(api);

    const rows = await api.rows<{ data: string }>(
      `select data::text from event_payload where type = 'api_key.created'`,
    );
    expect(rows.length).toBeGreaterThan(0);
    expect(JSON.stringify(rows)).not.toContain(secret.slice(12));
  });
});
