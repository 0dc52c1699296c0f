import { describe, expect } from 'vitest';
import { startApi, testWith, type Api } from '../support/api.ts';
import { ALL_SCOPES } from '../rest/operations.ts';
import { signedIn } from '../support/browser.ts';
import { numberEvents } from '../webhooks/receiver.ts';
import { connect, ERAS, type McpClient } from './clients.ts';

/** What `docs/mcp.md` promises. */
const TEXT_MAX = 40_000;

const test = testWith(() => startApi({ RATE_LIMIT: '100000', MCP_CREATE_API_KEY: 'on' }));

/** The longest that JSON gets of a number of characters: each is six. REST stores them, tools show them. */
const longest = (length: number) => '\u0001'.repeat(length);
/** The longest name that a tool accepts. */
const longestName = (length: number) => '"'.repeat(length);

/** A team with the maximum of everything, and more members, roles, invitations and sessions than a page has. */
async function aFullTeam(api: Api) {
  const [owner, member] = [await api.anAccount(), await api.anAccount()];
  const team = await api.aTeam({ owner });
  await api.aMember(team, member, { role: 'member' });
  await signedIn(api, owner);
  const { secret } = await api.anApiKey(owner, { scopes: ALL_SCOPES as never });
  const [text100, text255, text1000] = [longest(100), longest(255), longest(1000)];
  const url = `https://example.com/${'x'.repeat(2000)}`;
  const email = `format('%s%s@%s.example', repeat('e', 40), n, repeat('d', 60))`;
  await api.rows('update team set name = $2, description = $3, avatar_url = $4 where id = $1', [
    team.id,
    text100,
    text1000,
    url,
  ]);
  await api.rows('update account set first_name = $1, last_name = $1, avatar = $2', [text255, url]);
  await api.rows(
    `with person as (
       insert into account (id, email, first_name, last_name, avatar, created_at, updated_at)
       select 'acc_' || md5($1 || n), md5($1 || n) || '-' || ${email}, $2, $2, $3, now(), now() from generate_series(1, 120) n
       returning id)
     insert into membership (id, team_id, account_id, role_id, joined_at, created_at)
     select 'mem_' || id, $1, id, 'member', now(), now() from person`,
    [team.id, text255, url],
  );
  await api.rows(
    `insert into role (id, team_id, name, name_skeleton, permissions, created_at)
     select 'role_' || md5($1 || n), $1, n || left($2, 97), n::text, (select permissions from role where id = 'owner'), now()
     from generate_series(1, 120) n`,
    [team.id, text100],
  );
  await api.rows(
    `insert into invitation (id, team_id, email, role_id, created_at, expires_at)
     select 'invt_' || md5($1 || n), $1, ${email}, (select id from role where team_id = $1 limit 1), now(), now() + interval '1 day'
     from generate_series(1, 120) n`,
    [team.id],
  );
  await api.rows(
    `insert into api_key (id, account_id, team_id, name, scopes, key_prefix, last4, created_at)
     select 'key_' || md5($1 || $2 || n), $1, $2, $3, $4, 'rst_tk_abcdef', 'wxyz', now() from generate_series(1, 999) n`,
    [member.id, team.id, text100, ALL_SCOPES],
  );
  await api.rows(
    `insert into api_key (id, account_id, name, scopes, key_prefix, last4, created_at)
     select 'key_' || md5($1 || n), $1, $2, $3, 'rst_pk_abcdef', 'wxyz', now() from generate_series(1, 998) n`,
    [owner.id, text100, ALL_SCOPES],
  );
  await api.rows(
    `insert into session (id, account_id, token_hash, browser, os, country, city, created_at, expires_at, idle_expires_at)
     select 'ses_' || md5($1 || n), $1, sha256(($1 || n)::bytea), $2, $2, 'DE', $2, now(), now() + interval '1 day', now() + interval '1 day'
     from generate_series(1, 120) n`,
    [owner.id, text255],
  );
  for (let i = 0; i < 60; i += 1)
    await api.as({ secret }).patch(`/api/v1/teams/${team.id}`, { name: `${i}${longest(98)}` });
  await numberEvents(api);
  await api.rows(
    `with other as (
       insert into team (id, name, slug, description, avatar_url, created_at, updated_at)
       select 'team_' || md5($1 || n), $2, 's-' || md5($1 || n), $3, $4, now(), now() from generate_series(1, 120) n returning id)
     insert into membership (id, team_id, account_id, role_id, joined_at, created_at)
     select 'mem_' || md5($1 || id), id, $1, 'member', now(), now() from other`,
    [owner.id, text100, text1000, url],
  );
  return { owner, member, team, secret };
}

type Content = Record<string, unknown>;

async function callWithin(client: McpClient, name: string, args: Content = {}) {
  const { content, structuredContent, isError } = await client.callTool({ name, arguments: args });
  const [text = '', structured] = [content[0]?.text, JSON.stringify(structuredContent ?? null)];
  expect([name, content.length, text.length < TEXT_MAX, structured.length < TEXT_MAX]).toEqual([name, 1, true, true]);
  if (!isError) expect(text).toBe(structured);
  return { text, isError, content: structuredContent ?? {} };
}

/** Reads all pages. @returns how many items there were, and how many different ones */
async function readAll(client: McpClient, name: string, args: Content, key = 'items') {
  const ids: string[] = [];
  for (let offset: unknown = 0; offset !== null;) {
    const { content } = await callWithin(client, name, { ...args, offset });
    ids.push(...(content[key] as object[]).map((item) => JSON.stringify(item)));
    offset = content['nextOffset'];
  }
  return [ids.length, new Set(ids).size];
}

describe.each(ERAS)('a client of %s', (era) => {
  test('gets a bounded answer from every tool, also in a team with the maximum of everything', async ({ api }) => {
    const { owner, member, team, secret } = await aFullTeam(api);
    const client = await connect(api, era, secret);
    const teamId = team.id;
    const one = async (table: string, column = 'team_id', value = teamId) =>
      (await api.rows<{ id: string }>(`select id from ${table} where ${column} = $1 limit 1`, [value]))[0]?.id ?? '';
    const keyId = (
      await api.rows<{ id: string }>(`select id from api_key where account_id = $1 and name <> 'A key' limit 1`, [
        owner.id,
      ])
    )[0]?.id;

    const inputs: Record<string, Content> = {
      updateMe: { firstName: longestName(255), lastName: longestName(255) },
      revokeMySession: { sessionId: await one('session', 'account_id', owner.id) },
      createTeam: { name: longestName(100), description: longest(1000) },
      updateTeam: { teamId, name: longestName(100) },
      previewMemberRemoval: { teamId, userId: member.id },
      removeTeamMember: { teamId, userId: member.id },
      createTeamInvitation: { teamId, email: `${'e'.repeat(60)}@${'d'.repeat(60)}.example` },
      revokeTeamInvitation: { teamId, invitationId: await one('invitation') },
      createApiKey: { name: longestName(100), scopes: [...ALL_SCOPES] },
      updateApiKey: { keyId, scopes: ['teams:read'] },
      revokeApiKey: { keyId },
    };
    const { tools } = await client.listTools();
    expect(tools).toHaveLength(23);
    const isRead = ({ annotations }: (typeof tools)[number]) =>
      Number((annotations as { readOnlyHint: boolean }).readOnlyHint);
    for (const { name, inputSchema, annotations } of tools.toSorted((a, b) => isRead(b) - isRead(a))) {
      const input = inputs[name] ?? ('teamId' in (inputSchema as { properties: object }).properties ? { teamId } : {});
      const { text, content } = await callWithin(client, name, input);
      const isDenied = text.includes('_limit_reached');
      if (!isDenied) expect([name, Object.keys(content).length > 0]).toEqual([name, true]);
      if (isDenied || (annotations as { destructiveHint: boolean }).destructiveHint === false) continue;
      await callWithin(client, name, { ...input, confirm: content['confirm'] });
    }
  });

  test('gets a bounded error that names the invalid arguments, however many and long they are', async ({ api }) => {
    const { secret } = await api.anApiKey(await api.anAccount(), { scopes: ALL_SCOPES as never });
    const client = await connect(api, era, secret);
    const many = Object.fromEntries(Array.from({ length: 3000 }, (_, n) => [`x${n}`, n]));
    const calls: readonly (readonly [name: string, args: Content, names: string])[] = [
      ['listTeams', many, 'Unknown arguments: x0, x1,'],
      ['listTeams', { ['y'.repeat(90_000)]: 1 }, 'Unknown arguments: yyy'],
      ['updateApiKey', { keyId: 'key_x', scopes: Array.from({ length: 9000 }, () => 'x') }, '/scopes'],
      ['getTeam', { teamId: 'z'.repeat(90_000) }, '/teamId'],
      ['createTeam', { name: 7 }, '/name'],
      ['createTeam', {}, '/name'],
      ['listTeamMembers', { teamId: 'team_x', offset: -1 }, '/offset'],
      ['listTeamMembers', { teamId: 'team_x', offset: 'a' }, '/offset'],
      ['listTeamEvents', { teamId: 'team_x', types: ['no.event'] }, '/types/0'],
    ];
    for (const [name, args, names] of calls) {
      const { text, isError } = await callWithin(client, name, args);
      expect([name, isError, text]).toEqual([name, true, expect.stringContaining(names)]);
      expect(text.length).toBeLessThan(8000);
    }
  });
});

test('what did not fit can be read on, without a gap or a repetition', async ({ api }) => {
  const { member, team, secret } = await aFullTeam(api);
  const client = await connect(api, '2026-07-28', secret);
  const teamId = team.id;

  expect(await readAll(client, 'listTeams', {})).toEqual([121, 121]);
  expect(await readAll(client, 'listTeamMembers', { teamId })).toEqual([122, 122]);
  expect(await readAll(client, 'listTeamInvitations', { teamId })).toEqual([120, 120]);
  expect(await readAll(client, 'listTeamRoles', { teamId })).toEqual([123, 123]);
  expect(await readAll(client, 'listMySessions', {})).toEqual([121, 121]);
  expect(await readAll(client, 'listApiKeys', { teamId })).toEqual([999, 999]);
  expect(await readAll(client, 'previewMemberRemoval', { teamId, accountId: member.id }, 'apiKeys')).toEqual([
    999, 999,
  ]);
  const named = await callWithin(client, 'removeTeamMember', { teamId, userId: member.id });
  expect(named.content['change']).toMatchObject({
    effects: expect.arrayContaining(['API keys that stop working: 999.', 'previewMemberRemoval lists all of them.']),
  });

  const events: string[] = [];
  for (let page: Content = { hasMore: true }; page['hasMore'] === true;) {
    const after = page['cursor'];
    ({ content: page } = await callWithin(client, 'listTeamEvents', {
      teamId,
      limit: 100,
      ...(after ? { after } : {}),
    }));
    events.push(...(page['events'] as { id: string }[]).map(({ id }) => id));
  }
  expect([events.length, new Set(events).size]).toEqual([60, 60]);
  const logged: string[] = [];
  for (let cursor: unknown; cursor !== null;) {
    const { content } = await callWithin(client, 'listTeamAuditLog', { teamId, ...(cursor ? { cursor } : {}) });
    logged.push(...(content['events'] as { id: string }[]).map(({ id }) => id));
    cursor = content['nextCursor'];
  }
  expect([logged.length, new Set(logged).size]).toEqual([60, 60]);
});
