import type { Api } from '../../support/api.ts';
import { signedIn } from '../../support/browser.ts';
import { shown, type Scene } from './scene.ts';

const URL = 'https://a-rather-long-host-name.integrations.example.com/services/roster/webhooks/receive';

/** The webhook endpoints of a team and of the installation. */
export const webhooks: readonly Scene[] = [
  [
    'webhooks-empty',
    async (api, open) => {
      const owner = await api.anAccount();
      const team = await api.aTeam({ owner });
      const page = await open(`/teams/${team.id}/webhooks`, owner);
      await page.getByText('No webhook endpoints yet').waitFor();
      return page;
    },
  ],
  [
    'webhooks',
    async (api, open) => {
      const { owner, teamId } = await aTeamWithEndpoints(api);
      const page = await open(`/teams/${teamId}/webhooks`, owner);
      await page.getByText('Disabled', { exact: true }).waitFor();
      return page;
    },
  ],
  [
    'webhooks-create',
    async (api, open) => {
      const owner = await api.anAccount();
      const team = await api.aTeam({ owner });
      const page = await open(`/teams/${team.id}/webhooks`, owner);
      await page.getByRole('button', { name: 'Create endpoint' }).click();
      await page.getByLabel('Selected events').check();
      await page.getByLabel('invitation.created').waitFor();
      return page;
    },
  ],
  [
    'webhook-deliveries',
    async (api, open) => {
      const { owner, teamId, endpointId } = await aTeamWithEndpoints(api);
      const page = await open(`/teams/${teamId}/webhooks/${endpointId}`, owner);
      await page.getByText('1 attempt').first().click();
      await page.getByText('HTTP 500').first().waitFor();
      return page;
    },
  ],
  [
    'webhooks-installation',
    async (api, open) => {
      const operator = await api.anAccount();
      await api.rows(`update account set role = 'admin' where id = $1`, [operator.id]);
      const { trpc } = await signedIn(api, operator);
      await trpc.webhooks.create.mutate({ teamId: null, url: URL, types: ['account.created'] });
      const page = await open('/operator/webhooks', operator);
      await page.getByText(URL).first().waitFor();
      return shown(page, 'Webhooks of the installation');
    },
  ],
  [
    'webhooks-refused',
    async (api, open) => {
      const member = await api.anAccount();
      const team = await api.aTeam();
      await api.aMember(team, member);
      const page = await open(`/teams/${team.id}/webhooks`, member);
      await page.getByText('You cannot see this page').waitFor();
      return page;
    },
  ],
];

/** Endpoints in each state, one with deliveries. */
async function aTeamWithEndpoints(api: Api) {
  const owner = await api.anAccount();
  const { id: teamId } = await api.aTeam({ owner });
  const { trpc } = await signedIn(api, owner);
  const states = ['failing_since', 'disabled_at', 'paused_at', 'held_until'];
  const ids: string[] = [];
  for (const column of states) {
    const { endpoint } = await trpc.webhooks.create.mutate({ teamId, url: URL, types: ['team.updated'] });
    await api.rows(`update webhook_endpoint set ${column} = now(), disabled_reason = 'gone' where id = $1`, [
      endpoint.endpointId,
    ]);
    ids.push(endpoint.endpointId);
  }
  const [endpointId = ''] = ids;
  const deliveryStates = ['waiting', 'delivered', 'failed', 'skipped'];
  for (const [i, state] of deliveryStates.entries()) {
    const id = `whd_${endpointId}_${i}`;
    await api.rows(
      `insert into webhook_delivery (id, created_at, endpoint_id, event_id, event, state, due_at, attempts, reason)
       values ($1, now(), $2, $3, 'team.updated', $4, now() + interval '1 hour', 1, $5)`,
      [id, endpointId, `evt_${i}`, state, state === 'failed' ? 'The receiver answered 500.' : null],
    );
    await api.rows(
      `insert into webhook_attempt (id, created_at, delivery_id, status, duration_ms, error, answer)
       values ($1, now(), $2, 500, 123, null, $3)`,
      [`wha_${id}`, id, `<h1>Internal error</h1>${'x'.repeat(200)}`],
    );
  }
  return { owner, teamId, endpointId };
}
