import { expect } from 'vitest';
import { test } from '../support/api.ts';
import { as } from '../trpc/console.ts';
import { numberEvents } from '../webhooks/receiver.ts';

test('GET /dev/webhooks shows on this machine what an endpoint would get, and exists for no other host', async ({
  api,
}) => {
  const owner = await api.anAccount();
  const team = await api.aTeam({ owner });
  await (await as(api, owner)).teams.updateDetails.mutate({ teamId: team.id, description: '<b>' });
  await numberEvents(api);

  const get = (headers: Record<string, string>) =>
    api.anonymous.send({ method: 'GET', path: '/dev/webhooks', headers });
  const { status, text } = await get({ host: 'localhost:3000' });
  expect(status).toBe(200);
  expect(text).toContain('&quot;type&quot;: &quot;team.updated&quot;');
  expect(text).toContain(team.id);
  for (const headers of [{ host: 'other.example' }, { host: 'localhost:3000', 'x-forwarded-for': '192.0.2.1' }]) {
    expect(await get(headers)).toBeProblem('route_not_found');
  }
});
