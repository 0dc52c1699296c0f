import { globSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { ALL_SCOPES } from '../rest/operations.ts';
import { startApi } from '../support/api.ts';
import { NOT_APPLICABLE } from './not-applicable.ts';
import { bearerProxy, program, temporaryFolder } from './programs.ts';

type Check = { readonly scenario: string; readonly id: string; readonly status: string };

/** Runs the server scenarios of a revision. The tool cannot send a token, so a proxy adds it. */
async function runScenarios(revision: string): Promise<readonly Check[]> {
  const proxy = await bearerProxy();
  const api = await startApi({ BASE_URL: proxy.url });
  onTestFinished(() => api.close());
  proxy.forwardTo(api.port, (await api.anApiKey(await api.anAccount(), { scopes: [...ALL_SCOPES] })).secret);
  const folder = temporaryFolder();
  await program('conformance', ['server', '--url', `${proxy.url}/mcp`, '--requirements', revision, '-o', folder]);
  return globSync('*/checks.json', { cwd: folder }).flatMap((path) =>
    (JSON.parse(readFileSync(join(folder, path), 'utf8')) as { id: string; status: string }[]).map((check) => ({
      ...check,
      scenario: basename(dirname(path)).replace(/^server-(.*)-20\d\d-\d\d-\d\dT.*$/, '$1'),
    })),
  );
}

describe.for(Object.entries(NOT_APPLICABLE))('the conformance suite of revision %s', ([revision, reasons]) => {
  test('passes, except for the checks that do not apply', async () => {
    const checks = await runScenarios(revision);
    const names = (status: string) =>
      checks.filter((check) => check.status === status).map(({ scenario, id }) => `${scenario}: ${id}`);
    const excepted = Object.values(reasons).flatMap((scenarios) =>
      Object.entries(scenarios).flatMap(([scenario, ids]) => ids.map((id) => `${scenario}: ${id}`)),
    );

    expect(names('FAILURE').toSorted()).toEqual(excepted.toSorted());
    expect(names('SUCCESS')).toEqual(
      expect.arrayContaining([
        'tools-list: tools-list',
        'resources-list: resources-list',
        'dns-rebinding-protection: localhost-host-rebinding-rejected',
        'dns-rebinding-protection: localhost-host-valid-accepted',
      ]),
    );
    expect(names('SUCCESS').length).toBeGreaterThan(30);
  });
});
