import { describe } from 'vitest';
import type { Api } from '../support/api.ts';
import type { AClient } from '../support/factories.ts';
import { signedIn } from '../support/browser.ts';
import { hasChromium } from '../support/chromium.ts';
import { builtRoutes } from './built-routes.ts';
import { test } from './application.ts';
import { aPerson, authorizePath, type Open } from './console.ts';
import { expectStable, observeLayoutShift } from './layout-shift.ts';

/** The most that a page moves while it loads, as CLS of Web Vitals. */
const SHIFT_MAX = 0.02;

/** How late data arrives, so that what stands for it is painted before. */
const LATE_MS = 500;

/** An operator with a team, in which every page has something to show, and what stands for the parameters of paths. */
async function aWorld(api: Api, app: AClient) {
  const operator = await aPerson(api, { firstName: 'Ada', lastName: 'Lovelace' });
  await api.rows(`update account set role = 'admin' where id = $1`, [operator.id]);
  const team = await api.aTeam({ owner: operator, name: 'Analytical Engine' });
  await api.aTeam({ owner: operator, name: 'Difference Engine' });
  for (const role of ['member', 'guest']) await api.aMember(team, await aPerson(api), { role });
  await api.anInvitation(team);
  await api.anApiKey(operator, { team });
  await api.anApiKey(operator);
  const { trpc } = await signedIn(api, operator);
  const url = 'https://example.com/hooks';
  const ofTeam = await trpc.webhooks.create.mutate({ teamId: team.id, url, types: [] });
  const ofAll = await trpc.webhooks.create.mutate({ teamId: null, url, types: ['account.created'] });
  const toPath = (route: string): string =>
    (route === '/oauth/consent/$id' ? authorizePath(app, ['teams:read']) : route)
      .replace('/operator/teams/$teamId', `/operator/teams/${team.id}`)
      .replace('/operator/webhooks/$endpointId', `/operator/webhooks/${ofAll.endpoint.endpointId}`)
      .replace('$teamId', team.slug)
      .replace('$accountId', operator.id)
      .replace('$endpointId', ofTeam.endpoint.endpointId);
  return { operator, toPath };
}

/** Opens a page whose data arrives late, and expects that it moves no more than allowed. */
async function expectLateDataToMoveNothing(open: Open, path: string, as?: { readonly id: string }): Promise<void> {
  const page = await open('about:blank', as && { as });
  await observeLayoutShift(page);
  await page.route('**/trpc/**', async (route) => {
    await new Promise((resolve) => setTimeout(resolve, LATE_MS));
    await route.continue();
  });
  await page.goto(path);
  await page.getByRole('heading', { level: 1 }).waitFor();
  await page.waitForLoadState('networkidle');
  await expectStable(page, path, SHIFT_MAX);
  await page.unrouteAll({ behavior: 'ignoreErrors' });
}

describe.skipIf(!hasChromium)('while its data arrives late', () => {
  const routes = builtRoutes();
  let world: ReturnType<typeof aWorld> | undefined;

  test.for(routes.filter(({ needsSession }) => needsSession))(
    '$path moves nothing',
    async ({ path }, { api, app, open }) => {
      const { operator, toPath } = await (world ??= aWorld(api, app));
      await expectLateDataToMoveNothing(open, toPath(path), operator);
    },
  );

  test.for(routes.filter(({ needsSession }) => !needsSession))('$path moves nothing', async ({ path }, { open }) => {
    await expectLateDataToMoveNothing(open, `${path}?token=rst_unknown`);
  });
});
