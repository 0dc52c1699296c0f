import type { Browser } from 'playwright-core';
import { describe, expect, vi } from 'vitest';
import { ERAS, type Era } from '../mcp/clients.ts';
import { createSignedOutClient } from '../mcp/signed-out-client.ts';
import type { Api } from '../support/api.ts';
import { signedIn } from '../support/browser.ts';
import { aRedirectUri, consentInBrowser, test } from './consent.ts';

/** The owner of a team, and a client that has only the URL of the service. */
async function aStart(api: Api, browser: Browser, era: Era, selection: 'all' | 'preselected') {
  const account = await api.anAccount();
  const url = new URL(`${api.services.config.baseUrl}/mcp`);
  const client = createSignedOutClient(era, url, await aRedirectUri(), async (authorizationUrl) => {
    const page = await consentInBrowser({ api, browser, account }, authorizationUrl, selection);
    const answer = new URL(page.url());
    await page.context().close();
    return answer;
  });
  await client.connect();
  return { client, account, team: await api.aTeam({ owner: account }) };
}

describe.for(ERAS)('the client of the SDK of %s', (era) => {
  test('signs in with nothing but the URL, calls every tool, refreshes, and is cut off by a revocation', async ({
    api,
    browser,
  }) => {
    const { client, account, team } = await aStart(api, browser, era, 'all');
    const member = await api.anAccount();
    await api.aMember(team, member, { role: 'member' });
    const teamId = team.id;
    const key = await api.anApiKey(account);
    const inputs: Record<string, object> = {
      updateMe: { firstName: 'Ada', lastName: 'King' },
      revokeMySession: { sessionId: 'ses_x' },
      createTeam: { name: 'Mills' },
      updateTeam: { teamId, name: 'Engines' },
      previewMemberRemoval: { teamId, userId: member.id },
      removeTeamMember: { teamId, userId: member.id },
      createTeamInvitation: { teamId, email: 'grace@example.com' },
      revokeTeamInvitation: { teamId, invitationId: (await api.anInvitation(team)).id },
      updateApiKey: { keyId: key.id, scopes: ['teams:read'] },
      revokeApiKey: { keyId: key.id },
    };
    // The reads first, while what they read is there.
    const tools = (await client.listTools()).toSorted(
      (a, b) => Number(b.annotations?.readOnlyHint) - Number(a.annotations?.readOnlyHint),
    );
    for (const { name, inputSchema } of tools) {
      const input = inputs[name] ?? ('teamId' in (inputSchema.properties ?? {}) ? { teamId } : {});
      const result = await client.callTool(name, { ...input });
      expect([name, result.isError ?? false, result.content]).toEqual([name, false, [expect.anything()]]);
      const { confirm } = { ...(result.structuredContent as { confirm?: string } | undefined) };
      if (confirm === undefined) continue;
      const done = await client.callTool(name, { ...input, confirm });
      expect([name, done.structuredContent]).toEqual([name, expect.objectContaining({ changed: true })]);
    }
    expect(client.consents).toHaveLength(1);

    const before = client.accessToken();
    await api.rows(
      `update oauth_token set expires_at = now() - interval '1 s' where kind = 'access' and grant_id in (select id from oauth_grant where account_id = $1)`,
      [account.id],
    );
    expect(await client.callTool('listTeams')).toMatchObject({ structuredContent: { total: 2 } });
    expect(client.accessToken()).not.toBe(before);
    expect(client.consents).toHaveLength(1);

    const { trpc } = await signedIn(api, account);
    const [grant] = await trpc.grants.list.query();
    await trpc.grants.revoke.mutate({ grantId: grant?.id ?? '' });
    client.refuseConsent();
    await expect(client.callTool('listTeams')).rejects.toThrow('There is no consent.');
    // eslint-disable-next-line no-console -- in which the client says that its tokens are no longer valid
    vi.mocked(console.warn).mockClear();
  });
});

// The other client refreshes its token instead of asking for more, which is why the consent page offers more than it asks for.
test('the client of the SDK of 2026-07-28 asks for more when a call needs it', async ({ api, browser }) => {
  const { client } = await aStart(api, browser, '2026-07-28', 'preselected');
  expect(client.consents[0]).not.toContain(':write');

  expect(await client.callTool('createTeam', { name: 'Mills' })).toMatchObject({
    structuredContent: { name: 'Mills' },
  });
  expect(client.consents).toHaveLength(2);
  expect(client.consents[1]?.split(' ')).toEqual(expect.arrayContaining(['teams:read', 'teams:write']));
  expect(client.consents[1]).not.toContain('members:write');
});
