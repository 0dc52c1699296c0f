import { describe, expect } from 'vitest';
import { signedIn } from '../support/browser.ts';
import { freePort } from '../support/service.ts';
import { consentInBrowser, test } from './consent.ts';
import { program, startProgram, temporaryFolder } from './programs.ts';

const SIGN_IN_NEEDED = 3;

describe.for(['legacy', 'modern'])('the MCP Inspector on the command line (%s era)', (era) => {
  test('signs in with nothing but the URL, calls tools, refreshes, and is cut off by a revocation', async ({
    api,
    browser,
  }) => {
    const account = await api.anAccount();
    const env = {
      HOME: temporaryFolder(),
      MCP_INSPECTOR_SECRET_STORE: 'file',
      MCP_AUTO_OPEN_ENABLED: 'true',
      BROWSER: 'true', // the program that does nothing: the test opens the URL
    };
    const target = ['--cli', `${api.services.config.baseUrl}/mcp`, '--transport', 'http', '--protocol-era', era];
    const callback = ['--callback-url', `http://127.0.0.1:${await freePort()}/oauth/callback`];
    const run = (...args: string[]) =>
      program('mcp-inspector', [...target, ...callback, '--stored-auth-only', ...args], { env });
    const getCredential = () => run('--method', 'tools/call', '--tool-name', 'getCredential', '--format', 'json');

    const listing = startProgram('mcp-inspector', [...target, ...callback, '--method', 'tools/list'], { env });
    const [url] = await listing.prints(/http:\S+\/oauth\/authorize\?\S+/);
    const page = await consentInBrowser({ api, browser, account }, url, 'preselected');
    await page.getByText('OAuth complete').waitFor();
    expect([await listing.ended, listing.printed.stdout]).toEqual([0, expect.stringContaining('"listTeams"')]);

    expect(await run('--method', 'tools/list', '--strict')).toMatchObject({
      code: 0,
      stderr: expect.not.stringMatching(/\d (errors|warnings)/),
    });
    expect(await getCredential()).toMatchObject({ code: 0, stdout: expect.stringContaining('oauth-grant') });

    await api.rows(
      `update oauth_token set expires_at = now() where kind = 'access' and grant_id in (select id from oauth_grant where account_id = $1)`,
      [account.id],
    );
    expect(await getCredential()).toMatchObject({ code: 0, stdout: expect.stringContaining('oauth-grant') });

    const { trpc } = await signedIn(api, account);
    const [grant] = await trpc.grants.list.query();
    expect(grant?.client.name).toMatch(/Inspector/);
    await trpc.grants.revoke.mutate({ grantId: grant?.id ?? '' });
    expect(await getCredential()).toMatchObject({ code: SIGN_IN_NEEDED, stdout: '' });
  });
});
