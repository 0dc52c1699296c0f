import { describe, expect } from 'vitest';
import { test } from '../support/api.ts';
import { ALL_SCOPES } from '../rest/operations.ts';
import { numberEvents } from '../webhooks/receiver.ts';
import { confirmed, connect, ERAS } from './clients.ts';

describe.each(ERAS)('a client of %s', (era) => {
  test('previews a removal, and follows the events of a team, with the permissions for both', async ({ api }) => {
    const [owner, member] = [await api.anAccount(), await api.anAccount()];
    const team = await api.aTeam({ owner });
    await api.aMember(team, member, { role: 'member' });
    const key = await api.anApiKey(member, { team });
    const as = async (account: { id: string }) =>
      connect(api, era, (await api.anApiKey(account, { scopes: ALL_SCOPES as never })).secret);
    const client = await as(owner);
    const listEvents = async (after?: unknown) =>
      (
        await client.callTool({
          name: 'listTeamEvents',
          arguments: { teamId: team.id, after, types: ['team.renamed'] },
        })
      ).structuredContent;

    const preview = { name: 'previewMemberRemoval', arguments: { teamId: team.id, accountId: member.id } };
    expect((await client.callTool(preview)).structuredContent).toMatchObject({
      apiKeys: [{ id: key.id, name: 'A key' }],
      apiKeyCount: 1,
      nextOffset: null,
      oauthGrants: 0,
    });
    await confirmed(client, 'updateTeam', { teamId: team.id, name: 'Engines' });
    await numberEvents(api);
    const page = await listEvents();
    expect(page).toMatchObject({
      events: [{ type: 'team.renamed', actor: { id: owner.id }, data: { team: { name: 'Engines' } } }],
      hasMore: false,
    });
    expect(JSON.stringify(page)).not.toMatch(/127\.0\.0\.1|address/);
    expect(await listEvents(page?.['cursor'])).toMatchObject({ events: [], cursor: page?.['cursor'] });

    // A model is offered what can be an answer, and is told of what cannot.
    const { tools } = await client.listTools();
    const offered = JSON.stringify(tools.find(({ name }) => name === 'listTeamEvents')?.inputSchema);
    expect(offered).toContain('"team.renamed"');
    expect(offered).not.toMatch(/"(?:account|session|passkey|operator_key)\./);
    const foreign = await client.callTool({
      name: 'listTeamEvents',
      arguments: { teamId: team.id, types: ['account.created'] },
    });
    expect(foreign.content[0]?.text).toContain('"pointer":"/types/0"');

    const [denied, invalid] = await Promise.all([
      (await as(member)).callTool({ name: 'listTeamEvents', arguments: { teamId: team.id } }),
      client.callTool({ name: 'listTeamEvents', arguments: { teamId: team.id, wait: 20 } }),
    ]);
    expect(denied.content[0]?.text).toContain('permission_missing');
    expect(invalid.content[0]?.text).toContain('Unknown arguments: wait.');
  });

  test('reads the audit log of a team in pages, as ids without names, email addresses and IP addresses', async ({
    api,
  }) => {
    const [owner, member] = [await api.anAccount({ firstName: 'Ada' }), await api.anAccount()];
    const [team, other] = [await api.aTeam({ owner }), await api.aTeam({ owner: await api.anAccount() })];
    await api.aMember(team, member, { role: 'member' });
    const as = async (account: { id: string }, options: object = {}) =>
      connect(api, era, (await api.anApiKey(account, { scopes: ALL_SCOPES as never, ...options })).secret);
    const client = await as(owner);
    const memberClient = await as(member);
    const list = async (args: object = {}) =>
      client.callTool({ name: 'listTeamAuditLog', arguments: { teamId: team.id, ...args } });

    await client.callTool({ name: 'createTeamInvitation', arguments: { teamId: team.id, email: 'ada@example.net' } });
    for (let i = 0; i < 55; i += 1) await confirmed(client, 'updateTeam', { teamId: team.id, name: `Engines ${i}` });
    const denied = await memberClient.callTool({ name: 'listTeamAuditLog', arguments: { teamId: team.id } });
    expect(denied.content[0]?.text).toContain('permission_missing');
    await api.denials.flush();

    const first = await list();
    const events = first.structuredContent?.['events'] as { event: string }[];
    expect(events).toHaveLength(50);
    expect(events[0]).toMatchObject({ event: 'access.denied', actorId: member.id, reason: 'permission_missing' });
    expect(events[1]).toMatchObject({ event: 'team.renamed', actorKind: 'api_key', actorId: owner.id, count: 1 });
    const second = await list({ cursor: first.structuredContent?.['nextCursor'] });
    expect(second.structuredContent).toMatchObject({ nextCursor: null });
    expect(JSON.stringify(second)).toContain('invitation.created');
    const answers = JSON.stringify([first, second, await list({ kind: 'invitation' })]);
    expect(answers).not.toMatch(/127\.0\.0\.1|address|Ada|@example/);
    expect(JSON.stringify(first.structuredContent).length).toBeLessThan(25_000);

    expect((await list({ teamId: other.id })).content[0]?.text).toContain('team_not_found');
    expect((await list({ address: '127.0.0.1' })).content[0]?.text).toContain('Unknown arguments: address.');
    expect((await list({ limit: 51 })).content[0]?.text).toContain('/limit');
    expect((await list({ cursor: 'evt_0' })).content[0]?.text).toContain('/cursor');
  });
});
