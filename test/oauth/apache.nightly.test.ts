import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, vi } from 'vitest';
import { createBrowser } from '../clients/server-kit.ts';
import { startApiAtItsAddress, testWith, type Api } from '../support/api.ts';
import { signedIn } from '../support/browser.ts';
import type { AClient } from '../support/factories.ts';
import { freePort } from '../support/free-port.ts';
import { PATIENCE_MS } from '../support/patience.ts';

const test = testWith(() => startApiAtItsAddress());

const APP_URL = 'https://app.example.com';
const CALLBACK = `${APP_URL}/callback`;
const MODULES = 'mpm_event authn_core authz_core authz_user headers dir auth_openidc'.split(' ');

/** Starts Apache with `mod_auth_openidc`, behind a proxy that ends TLS. It ends with the test. @returns the address */
async function startApache(api: Api, client: AClient): Promise<string> {
  const dir = mkdtempSync(join(tmpdir(), 'roster-apache-'));
  chmodSync(dir, 0o755);
  writeFileSync(join(dir, 'index.html'), 'protected');
  const port = await freePort();
  const lines = [
    `ServerName localhost`,
    `Listen 127.0.0.1:${port}`,
    `PidFile ${dir}/pid`,
    `DefaultRuntimeDir ${dir}`,
    `ErrorLog ${dir}/error.log`,
    `User www-data`,
    `Group www-data`,
    ...MODULES.map((name) => `LoadModule ${name}_module /usr/lib/apache2/modules/mod_${name}.so`),
    `RequestHeader set X-Forwarded-Proto https early`,
    `RequestHeader set X-Forwarded-Host app.example.com early`,
    // As browsers do: the module leads no scripts to a sign-in.
    `RequestHeader set Accept text/html early`,
    `RequestHeader set Sec-Fetch-Mode navigate early`,
    `RequestHeader set Sec-Fetch-Dest document early`,
    `OIDCXForwardedHeaders X-Forwarded-Proto X-Forwarded-Host`,
    `OIDCProviderMetadataURL ${api.services.config.baseUrl}/.well-known/openid-configuration`,
    `OIDCClientID ${client.id}`,
    `OIDCClientSecret ${client.clientSecret}`,
    `OIDCProviderTokenEndpointAuth client_secret_post`,
    `OIDCRedirectURI ${CALLBACK}`,
    `OIDCScope "openid profile email"`,
    `OIDCPKCEMethod S256`,
    `OIDCRemoteUserClaim sub`,
    `OIDCCryptoPassphrase passphrase-of-the-product`,
    `DocumentRoot ${dir}`,
    `DirectoryIndex index.html`,
    `<Location />`,
    `  AuthType openid-connect`,
    `  Require valid-user`,
    `  Header set X-Sub "%{OIDC_CLAIM_sub}e"`,
    `  Header set X-Email "%{OIDC_CLAIM_email}e"`,
    `</Location>`,
  ];
  writeFileSync(join(dir, 'httpd.conf'), `${lines.join('\n')}\n`);
  const child = spawn('/usr/sbin/apache2', ['-f', join(dir, 'httpd.conf'), '-DFOREGROUND'], { stdio: 'inherit' });
  const ended = once(child, 'close');
  onTestFinished(async () => {
    child.kill('SIGTERM');
    await ended;
    rmSync(dir, { recursive: true });
  });
  const appAt = `http://127.0.0.1:${port}`;
  await vi.waitFor(() => fetch(appAt, { redirect: 'manual' }), { timeout: PATIENCE_MS });
  return appAt;
}

// Guarantees that the relying party of Apache, as Debian has it, finds nothing wrong, and notices what is not of its sign-in.
test('mod_auth_openidc signs a user in, and lets nobody in with the response of another sign-in', async ({ api }) => {
  const { baseUrl } = api.services.config;
  const client = await api.anOAuthClient({ confidential: true, firstParty: ['profile:read'], redirectUri: CALLBACK });
  const appAt = await startApache(api, client);
  const account = await api.anAccount();
  const visitor = await signedIn(api, account);
  const open = () => {
    const browser = createBrowser(appAt);
    for (const [name, value] of visitor.cookies) browser.jarOf(baseUrl).set(name, value);
    return browser;
  };

  const { response, way } = await open().open(`${APP_URL}/`);
  expect([response.status, way.at(-1), await response.text()]).toEqual([200, `${APP_URL}/`, 'protected']);
  expect(response.headers.get('x-sub')).toBe(account.id);
  expect(response.headers.get('x-email')).toBe(account.email);

  const attacker = open();
  let url = `${APP_URL}/`;
  do url = new URL((await attacker.send(url)).headers.get('location') ?? '', url).href;
  while (!url.startsWith(CALLBACK));
  const victim = open();
  expect((await victim.send(url)).status).toBeGreaterThanOrEqual(400);
  const again = await victim.send(`${APP_URL}/`);
  expect([again.status, again.headers.get('x-sub')]).toEqual([302, null]);
});
