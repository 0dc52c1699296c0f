import type { Browser } from 'playwright-core';
import { describe, expect } from 'vitest';
import type { Api } from '../support/api.ts';
import { signedIn } from '../support/browser.ts';
import { freePort } from '../support/free-port.ts';
import { consentInBrowser, test } from './consent.ts';
import { program, startProgram, temporaryFolder } from './programs.ts';

const SIGN_IN_NEEDED = 3;
const TOOL_FAILED = 5;

/** Signs the Inspector in, from nothing but the URL. @returns what runs it with the stored tokens */
async function signIn(
  api: Api,
  browser: Browser,
  account: { readonly id: string },
  era: string,
  selection: 'all' | 'preselected',
) {
  const env = {
    HOME: temporaryFolder(),
    MCP_INSPECTOR_SECRET_STORE: 'file',
    MCP_AUTO_OPEN_ENABLED: 'true',
    BROWSER: 'true', // the program that does nothing: the test opens the URL
  };
  const target = ['--cli', `${api.services.config.baseUrl}/mcp`, '--transport', 'http', '--protocol-era', era];
  const callback = ['--callback-url', `http://127.0.0.1:${await freePort()}/oauth/callback`];
  const listing = startProgram('mcp-inspector', [...target, ...callback, '--method', 'tools/list'], { env });
  const [url] = await listing.prints(/http:\S+\/oauth\/authorize\?\S+/);
  const page = await consentInBrowser({ api, browser, account }, url, selection);
  await page.getByText('OAuth complete').waitFor();
  expect([await listing.ended, listing.printed.stdout]).toEqual([0, expect.stringContaining('"listTeams"')]);
  const run = (...args: string[]) =>
    program('mcp-inspector', [...target, ...callback, '--stored-auth-only', ...args], { env });
  return {
    run,
    call: (name: string, args: Readonly<Record<string, unknown>> = {}) =>
      run(
        '--method',
        'tools/call',
        '--tool-name',
        name,
        '--format',
        'json',
        ...Object.entries(args).flatMap(([key, value]) => [
          '--tool-arg',
          `${key}=${typeof value === 'string' ? value : JSON.stringify(value)}`,
        ]),
      ),
  };
}

describe.for(['legacy', 'modern'])('the MCP Inspector on the command line (%s era)', (era) => {
  test('signs in with nothing but the URL, calls tools, refreshes, and is cut off by a revocation', async ({
    api,
    browser,
  }) => {
    const account = await api.anAccount();
    const { run, call } = await signIn(api, browser, account, era, 'preselected');
    const getCredential = () => call('getCredential');

    expect(await run('--method', 'tools/list', '--strict')).toMatchObject({
      code: 0,
      stderr: expect.not.stringMatching(/\d (errors|warnings)/),
    });
    expect(await getCredential()).toMatchObject({ code: 0, stdout: expect.stringContaining('oauth-grant') });

    await api.rows(
      `update oauth_token set expires_at = now() - interval '1 s' where kind = 'access' and grant_id in (select id from oauth_grant where account_id = $1)`,
      [account.id],
    );
    expect(await getCredential()).toMatchObject({ code: 0, stdout: expect.stringContaining('oauth-grant') });

    const { trpc } = await signedIn(api, account);
    const [grant] = await trpc.grants.list.query();
    expect(grant?.client.name).toMatch(/Inspector/);
    await trpc.grants.revoke.mutate({ grantId: grant?.id ?? '' });
    expect(await getCredential()).toMatchObject({ code: SIGN_IN_NEEDED, stdout: '' });
  });

  test('lists all tools, calls each of them, and shows an error', { timeout: 400_000 }, async ({ api, browser }) => {
    const [account, member] = [await api.anAccount(), await api.anAccount()];
    const team = await api.aTeam({ owner: account, name: 'Engines' });
    await api.aMember(team, member, { role: 'member' });
    const { cookies } = await signedIn(api, account);
    expect(cookies.size).toBeGreaterThan(0);
    const key = await api.anApiKey(account, { scopes: ['teams:read'] });
    const { run, call } = await signIn(api, browser, account, era, 'all');
    const teamId = team.id;
    const sessions = await api.rows<{ id: string }>('select id from session where account_id = $1', [account.id]);
    const invitationId = async () =>
      (await api.rows<{ id: string }>('select id from invitation where team_id = $1', [teamId]))[0]?.id ?? '';

    // In an order in which each finds what it needs.
    const calls: readonly (readonly [
      name: string,
      shows: string,
      args?: () => Promise<object> | object,
      then?: 'confirm',
    ])[] = [
      ['getCredential', 'oauth-grant'],
      ['getMe', account.id],
      ['updateMe', 'Ada', () => ({ firstName: 'Ada', lastName: 'King' }), 'confirm'],
      ['listMySessions', sessions[0]?.id ?? 'none'],
      ['revokeMySession', 'signed out', () => ({ sessionId: sessions[0]?.id }), 'confirm'],
      ['listTeams', teamId],
      ['createTeam', 'Mills', () => ({ name: 'Mills' })],
      ['getTeam', 'Engines', () => ({ teamId })],
      ['updateTeam', 'Looms', () => ({ teamId, name: 'Looms' }), 'confirm'],
      ['listTeamMembers', member.id, () => ({ teamId })],
      ['listTeamRoles', 'guest', () => ({ teamId })],
      ['previewMemberRemoval', 'apiKeys', () => ({ teamId, userId: member.id })],
      ['removeTeamMember', 'Nothing was changed', () => ({ teamId, userId: member.id })],
      ['createTeamInvitation', 'success', () => ({ teamId, email: 'charles@example.com' })],
      ['listTeamInvitations', 'charles@example.com', () => ({ teamId })],
      ['revokeTeamInvitation', 'revoked', async () => ({ teamId, invitationId: await invitationId() }), 'confirm'],
      ['getTeamBilling', 'cancelAtPeriodEnd', () => ({ teamId })],
      ['listApiKeys', key.id],
      ['updateApiKey', 'members:read', () => ({ keyId: key.id, scopes: ['members:read'] }), 'confirm'],
      ['revokeApiKey', 'revoked', () => ({ keyId: key.id }), 'confirm'],
      ['listTeamEvents', 'events', () => ({ teamId })],
      ['listTeamAuditLog', 'team.renamed', () => ({ teamId, kind: 'team' })],
    ];
    const listed = await run('--method', 'tools/list', '--format', 'json');
    const names = [...listed.stdout.matchAll(/"name": ?"([a-zA-Z]+)",\s*"(?:title|description)/g)].map(
      ([, name = '']) => name,
    );
    expect([...new Set(names)].toSorted()).toEqual(calls.map(([name]) => name).toSorted());
    for (const [name, shows, args, then] of calls) {
      const input = { ...(await args?.()) };
      const described = then && /"confirm\\?": ?\\?"([0-9a-f]+)/.exec((await call(name, input)).stdout)?.[1];
      const { code, stdout } = await call(name, { ...input, ...(described && { confirm: described }) });
      if (then) expect([name, stdout]).toEqual([name, expect.stringMatching(/"changed\\?": ?true/)]);
      expect([name, code, stdout]).toEqual([name, 0, expect.stringContaining(shows)]);
    }
    expect(await call('getTeam', { teamId: 'team_x' })).toMatchObject({
      code: TOOL_FAILED,
      stdout: expect.stringContaining('team_not_found'),
    });
  });
});
