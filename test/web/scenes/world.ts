import { SCOPES } from '../../../src/entities/index.ts';
import type { Api } from '../../support/api.ts';
import { signedIn } from '../../support/browser.ts';
import { declarePermissions } from '../../trpc/product-permissions.ts';
import { aPerson, authorizePath, linkIn } from '../console.ts';
import { PAGES } from './pages.ts';
import { LONG_NAME } from './scene.ts';

const HOOK = 'https://a-rather-long-host-name.integrations.example.com/services/roster/webhooks/receive';

/** Permissions of a product, some with texts in other languages. */
const CATALOGUE = [
  {
    name: 'invoices:write',
    title: { en: 'Write invoices', de: 'Rechnungen schreiben', ar: 'كتابة الفواتير' },
    description: { en: LONG_NAME, de: LONG_NAME },
    group: { en: 'Invoices', de: 'Rechnungen' },
    roles: ['member' as const],
    keys: true,
  },
  { name: `${'a-long-area-'.repeat(4)}x:${'a-long-action-'.repeat(3)}x`, title: { en: LONG_NAME }, sensitive: true },
  { name: 'invoices:print', title: { en: 'Print invoices' }, deprecated: true },
];

export type WorldPage = { readonly name: string; readonly path: string; readonly as?: { readonly id: string } };

/** Fills a database with something for each page to show, and returns the pages. */
export async function createWorld(api: Api): Promise<readonly WorldPage[]> {
  await declarePermissions(api, CATALOGUE);
  const ada = await aPerson(api, { firstName: 'Ada', lastName: 'Lovelace' });
  const olga = await aPerson(api, { firstName: 'Olga', lastName: 'Operator' });
  await api.rows(`update account set role = 'admin' where id = $1`, [olga.id]);
  const team = await api.aTeam({ owner: ada, name: 'Engine' });
  await api.aTeam({ owner: ada, name: LONG_NAME });
  const app = await fillAccount(api, ada);
  await fillTeam(api, team, ada);
  const { trpc } = await signedIn(api, ada);
  const { endpoint } = await trpc.webhooks.create.mutate({ teamId: team.id, url: HOOK, types: ['team.updated'] });
  await fillDeliveries(api, endpoint.endpointId);
  const asOperator = await signedIn(api, olga);
  const ofInstallation = await asOperator.trpc.webhooks.create.mutate({
    teamId: null,
    url: HOOK,
    types: ['account.created'],
  });
  await fillDeliveries(api, ofInstallation.endpoint.endpointId);
  await api.anOperatorKey({ addresses: ['203.0.113.0/24', '2001:db8::/32'] });
  await api.anOAuthClient({ name: 'Front desk', confidential: true, firstParty: ['teams:read'] });
  const params: Readonly<Record<string, string>> = {
    ':teamId': team.id,
    ':team': team.slug,
    ':account': ada.id,
    ':endpoint': endpoint.endpointId,
    ':installationEndpoint': ofInstallation.endpoint.endpointId,
  };
  /** Where pages with a token or request of their own are reached. */
  const entries: Readonly<Record<string, string>> = {
    '/oauth/consent/:request': authorizePath(app, SCOPES),
    '/invitation?token=:token': await invite(api, ada, team),
  };
  const users = { nobody: undefined, ada, olga };
  return PAGES.map(([name, user, path]) => {
    const as = users[user];
    const filled = path.replaceAll(/:\w+/g, (param) => params[param] ?? '');
    return { name, path: entries[path] ?? filled, ...(as !== undefined && { as }) };
  });
}

/** The account of somebody who has everything, and an application that asks for access. */
async function fillAccount(api: Api, ada: { id: string }) {
  await api.aSession(ada, { browser: 'Firefox' });
  await api.aGrant(ada, { client: await api.anOAuthClient({ name: 'Backup' }), scopes: SCOPES });
  await api.anApiKey(ada, { scopes: SCOPES });
  await api.anApiKey(ada, { expiresAt: new Date('2020-01-31T12:00:00Z') });
  await api.anOAuthClient({ name: LONG_NAME, owner: ada, confidential: true });
  return api.anOAuthClient({ name: 'Planner', owner: await api.anAccount({ firstName: 'Dev', lastName: 'Eloper' }) });
}

/** A team with members in every state, a role of its own, invitations, a key and a subscription. */
async function fillTeam(api: Api, team: { id: string }, ada: { id: string }): Promise<void> {
  const role = await api.aRole(team, ['access_dashboard', 'access_billing']);
  await api.rows(`update role set name = 'Bookkeeper' where id = $1`, [role.id]);
  await api.aMember(team, await aPerson(api, { firstName: 'משה', lastName: 'כהן' }), { role: 'member' });
  await api.aMember(team, await aPerson(api, { firstName: 'Grace', lastName: 'Hopper' }), {
    role: role.id,
    expiresAt: new Date('2099-01-31T23:59:59Z'),
  });
  await api.aMember(team, await api.anAccount({ firstName: LONG_NAME, lastName: 'Müller' }), { active: false });
  await api.aMember(team, await api.anAccount(), { expiresAt: new Date('2020-01-31T23:59:59Z') });
  await api.anInvitation(team);
  await api.anInvitation(team, { role: role.id, expiresAt: new Date('2020-01-31T12:00:00Z') });
  await api.anApiKey(ada, { team, scopes: ['members:read', 'members:write'] });
  await api.aSubscription(team, { seats: 3 });
  const { trpc } = await signedIn(api, ada);
  await trpc.roles.create.mutate({ teamId: team.id, name: 'Auditor', permissions: ['access_dashboard'] });
  await trpc.updateTeam.mutate({ teamId: team.id, name: 'Analytical Engine' });
}

async function fillDeliveries(api: Api, endpointId: string): Promise<void> {
  for (const [i, state] of ['waiting', 'delivered', 'failed', 'skipped'].entries()) {
    await api.rows(
      `insert into webhook_delivery (id, created_at, endpoint_id, event_id, event, state, due_at, attempts, reason)
       values ($1, now(), $2, $3, 'team.updated', $4, now() + interval '1 hour', 1, $5)`,
      [`whd_${endpointId}_${i}`, endpointId, `evt_${i}`, state, state === 'failed' ? 'HTTP 500' : null],
    );
  }
}

async function invite(api: Api, ada: { id: string }, team: { id: string }): Promise<string> {
  const email = `invited-${crypto.randomUUID()}@example.com`;
  const { trpc } = await signedIn(api, ada);
  await trpc.createTeamInvitation.mutate({ teamId: team.id, email, roleId: 'member', isSystemRole: true });
  return linkIn(await api.mailTo(email, /invitation/i));
}
