import { describe, expect } from 'vitest';
import { firstIdAt } from '../../src/entities/index.ts';
import { test } from '../support/api.ts';
import { recordedBy } from '../events/events.ts';
import { aScene } from '../events/mutations.ts';
import { problemOf, signedIn } from '../support/browser.ts';
import { withKey } from './console.ts';

describe('audit.list', () => {
  test('shows what happened in the team, the latest first, with the names of those who did it', async ({ api }) => {
    const { owner, team, member } = await aScene(api);
    const teamId = team.id;
    await api.rows(`update account set first_name = 'Ada', last_name = 'Lovelace' where id = $1`, [owner.id]);
    const { trpc } = owner.visitor;
    const role = await trpc.roles.create.mutate({ teamId, name: 'Editors', permissions: [] });
    await trpc.members.setRole.mutate({ teamId, userId: member.id, roleId: role.roleId });
    const key = await api.anApiKey(owner, { scopes: ['teams:write'], team });
    await withKey(api, key).updateTeam.mutate({ teamId, name: 'Kites' });

    const { events, nextCursor } = await trpc.audit.list.query({ teamId });

    const actor = { accountId: owner.id, userId: owner.id, name: 'Ada Lovelace' };
    expect(events).toMatchObject([
      { event: 'team.renamed', actorKind: 'api_key', actor, credentialName: 'A key', subject: null },
      {
        event: 'member.role_changed',
        actorKind: 'session',
        actor,
        subject: { accountId: member.id, userId: member.id, name: member.email },
        target: { id: role.roleId, name: 'Editors' },
        address: '127.0.0.1',
        count: 1,
      },
      { event: 'role.created', target: { id: role.roleId, name: 'Editors' } },
    ]);
    expect(nextCursor).toBeNull();
    expect((await trpc.audit.list.query({ teamId, kind: 'role' })).events.map(({ event }) => event)).toEqual([
      'role.created',
    ]);
  });

  test('names the app that was disconnected, also to the account of which it was one', async ({ api }) => {
    const { owner, team, member } = await aScene(api);
    const client = await api.anOAuthClient({ name: 'Kite planner' });
    await api.aGrant(member, { team, client });

    await owner.visitor.trpc.removeTeamMember.mutate({ teamId: team.id, userId: member.id });

    const disconnected = { event: 'oauth_grant.revoked', target: { name: 'Kite planner' } };
    const { events } = await owner.visitor.trpc.audit.list.query({ teamId: team.id, kind: 'oauth_grant' });
    expect(events).toMatchObject([disconnected]);
    const { trpc } = await signedIn(api, member);
    expect((await trpc.account.activity.query({})).events).toContainEqual(
      expect.objectContaining({ ...disconnected, target: expect.objectContaining(disconnected.target) }),
    );
  });

  test('finds events by person, key, address, day and kind together, and nothing of operators by their address', async ({
    api,
  }) => {
    const { owner, team } = await aScene(api);
    const event = (id: string, occurredAt: string, fields: Record<string, string>) => {
      const columns = ['id', 'occurred_at', 'event', 'team_id', 'details', ...Object.keys(fields)];
      const values = [id, occurredAt, 'team.renamed', team.id, '{}', ...Object.values(fields)];
      const places = values.map((_value, index) => `$${index + 1}`);
      return api.rows(`insert into audit_event (${columns.join(', ')}) values (${places.join(', ')})`, values);
    };
    const at = (iso: string, n: number) => firstIdAt('evt', new Date(iso)).slice(0, -1) + String(n) + team.id;
    const [day, next] = ['2030-05-01T12:00:00Z', '2030-05-02T00:00:00Z'];
    const [one, two, three, four, five] = [at(day, 1), at(day, 2), at(next, 3), at(day, 4), at(day, 5)];
    await event(one, day, { actor_kind: 'session', actor_id: 'acc_a', address: '192.0.2.1' });
    await event(two, day, { actor_kind: 'api_key', actor_id: 'acc_a', address: '192.0.2.2', credential_id: 'key_a' });
    await event(three, next, { actor_kind: 'session', actor_id: 'acc_b', address: '192.0.2.1' });
    await event(four, day, { actor_kind: 'operator_key', address: '192.0.2.1', credential_id: 'opk_a' });
    await event(five, day, { actor_kind: 'operator_session', actor_id: 'acc_a', address: '192.0.2.1' });

    const find = async (filter: object) => {
      const input = { teamId: team.id, from: '2030-05-01T00:00:00Z', ...filter };
      return (await owner.visitor.trpc.audit.list.query(input)).events.map(({ id }) => id);
    };
    expect(await find({})).toEqual([three, five, four, two, one]);
    expect(await find({ to: next })).toEqual([five, four, two, one]);
    expect(await find({ from: next })).toEqual([three]);
    expect(await find({ person: 'acc_a' })).toEqual([two, one]);
    expect(await find({ person: 'acc_a', address: '192.0.2.1' })).toEqual([one]);
    expect(await find({ address: '192.0.2.1' })).toEqual([three, one]);
    expect(await find({ key: 'key_a' })).toEqual([two]);
    expect(await find({ key: 'opk_a' })).toEqual([]);
    expect(await find({ person: 'acc_a', kind: 'role' })).toEqual([]);
    const list = { teamId: team.id, from: '2030-05-01T00:00:00Z', person: 'acc_a', limit: 1 };
    const { nextCursor } = await owner.visitor.trpc.audit.list.query(list);
    expect(await find({ person: 'acc_a', cursor: nextCursor ?? '' })).toEqual([one]);
  });

  test('gives fifty at a time, each once', async ({ api }) => {
    const { owner, team } = await aScene(api);
    await api.rows(
      `insert into audit_event (id, occurred_at, event, actor_kind, team_id, details)
       select 'evt_page_' || lpad(n::text, 4, '0') || $1, now(), 'team.renamed', 'system', $1, '{}'
       from generate_series(1, 120) n`,
      [team.id],
    );
    const ids: string[] = [];
    let cursor: string | null | undefined;
    do {
      const page = await owner.visitor.trpc.audit.list.query({ teamId: team.id, ...(cursor && { cursor }) });
      ids.push(...page.events.map(({ id }) => id));
      cursor = page.nextCursor;
    } while (cursor !== null);

    expect(ids).toHaveLength(120);
    expect(ids).toEqual([...new Set(ids)].toSorted().toReversed());
  });

  // Guarantees that only a cursor of a previous page is accepted.
  test('answers 400 to a cursor that it did not give', async ({ api }) => {
    const [one, other] = [await aScene(api), await aScene(api)];
    const [foreign] = await recordedBy(api, other.owner.visitor, () =>
      other.owner.visitor.trpc.updateTeam.mutate({ teamId: other.team.id, name: 'Kites' }),
    );
    const list = (cursor: string) => one.owner.visitor.trpc.audit.list.query({ teamId: one.team.id, cursor });

    for (const cursor of ['invented', 'evt_00000000000000000000000000', `${foreign?.id}`]) {
      expect(await problemOf(list(cursor))).toMatchObject({
        status: 400,
        code: 'validation_failed',
        errors: [{ pointer: '/cursor', code: 'invalid_format' }],
      });
    }
  });

  // Guarantees that rows, which never change, can be read after their events were renamed.
  test('shows events by their present names, whatever they were called when they were recorded', async ({ api }) => {
    const { owner, team } = await aScene(api);
    await api.rows(
      `insert into audit_event (id, occurred_at, event, actor_kind, team_id, details)
       values ('evt_legacy_' || $1, now(), 'member.changed', 'system', $1, '{}')`,
      [team.id],
    );

    const { events } = await owner.visitor.trpc.audit.list.query({ teamId: team.id, kind: 'member' });

    expect(events.map(({ event }) => event)).toEqual(['member.updated']);
  });

  test('shows nothing of another team', async ({ api }) => {
    const [one, other] = [await aScene(api), await aScene(api)];
    await other.owner.visitor.trpc.updateTeam.mutate({ teamId: other.team.id, name: 'Kites' });

    expect((await one.owner.visitor.trpc.audit.list.query({ teamId: one.team.id })).events).toEqual([]);
  });

  // Guarantees that a team learns that the operator looked at it, and not who of them.
  test('shows that an operator looked, and not which one', async ({ api }) => {
    const { owner, team } = await aScene(api);
    const operator = await api.anAccount();
    await api.rows(`update account set role = 'admin' where id = $1`, [operator.id]);
    const visitor = await signedIn(api, operator);
    const recorded = await recordedBy(api, visitor, () => visitor.trpc.operator.team.query({ teamId: team.id }));
    expect(recorded).toMatchObject([{ event: 'operator.team_viewed', actor_id: operator.id, team_id: team.id }]);

    const { events } = await owner.visitor.trpc.audit.list.query({ teamId: team.id });
    expect(events).toMatchObject([
      { event: 'operator.team_viewed', actorKind: 'operator', actor: null, address: null },
    ]);
    expect(JSON.stringify(events)).not.toContain(operator.id);
  });

  test('takes kinds that there are', async ({ api }) => {
    const { owner, team } = await aScene(api);
    const call = owner.visitor.trpc.audit.list.query({ teamId: team.id, kind: 'account' as 'team' });

    expect((await problemOf(call)).code).toBe('validation_failed');
  });
});
