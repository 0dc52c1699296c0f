import type { Locator, Page } from 'playwright-core';
import type { Api } from '../support/api.ts';
import type { AnAccount, ATeam } from '../support/factories.ts';
import { declarePermissions } from '../trpc/product-permissions.ts';
import { chooseOf } from './console.ts';
import { plugIn } from './virtual-authenticator.ts';

export type Setting = {
  readonly api: Api;
  readonly owner: AnAccount;
  readonly team: ATeam;
  readonly page: Page;
  readonly dialog: Locator;
};

/** A change that needs a recent proof, as a user makes it. */
export type Action = {
  readonly title: string;
  /** The procedures that its form calls. */
  readonly procedures: readonly string[];
  readonly path: (setting: Pick<Setting, 'api' | 'owner' | 'team'>) => Promise<string> | string;
  /** Opens the form, and fills it in. */
  readonly fill: (setting: Setting) => Promise<unknown>;
  /** The text of the button that sends it. */
  readonly send: string | RegExp;
  /** What is stored of it, once it is done. */
  readonly stored: (setting: Setting) => Promise<unknown[]>;
  readonly expected: unknown;
};

const PRIVILEGED = ['access_dashboard', 'invite_members'] as const;

async function aNamedRole(api: Api, team: ATeam, permissions: readonly (typeof PRIVILEGED)[number][] = PRIVILEGED) {
  const role = await api.aRole(team, permissions);
  await api.rows(`update role set name = 'Recruiter' where id = $1`, [role.id]);
  return role;
}

const aNamedMember = async (api: Api, team: ATeam, role = 'member') => {
  const account = await api.anAccount({ firstName: 'Max', lastName: 'Member' });
  await api.aMember(team, account, { role });
  return account;
};

const asOperator = (api: Api, { id }: AnAccount) => api.rows(`update account set role = 'admin' where id = $1`, [id]);

const anEndpoint = async (api: Api, team: ATeam, owner: AnAccount) => {
  await api.rows(
    `insert into webhook_endpoint (id, created_at, team_id, account_id, url, types, secret)
     values ('whe_' || $1, now(), $1, $2, 'https://hooks.example/', '{team.updated}', $3)`,
    [team.id, owner.id, api.services.encryption.encrypt('whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw')],
  );
  return `/teams/${team.id}/webhooks`;
};

const aClient = async (api: Api, owner: AnAccount) => {
  const { id } = await api.anOAuthClient({
    owner,
    confidential: true,
    redirectUri: 'https://planner.example/callback',
  });
  await api.rows(`update oauth_client set name = 'My planner' where id = $1`, [id]);
  return '/developer';
};

const click = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click();

const ROLES = 'select name, permissions from role where team_id = $1 order by name';

/** One change of each form that gives lasting access or takes a protection away. */
export const ACTIONS: readonly Action[] = [
  {
    title: 'an invitation to a privileged role',
    procedures: ['invitations.create', 'createTeamInvitation'],
    path: async ({ api, team }) => {
      await aNamedRole(api, team);
      return `/teams/${team.id}/invitations`;
    },
    fill: async ({ page, dialog }) => {
      await click(page, 'Invite people');
      await dialog.getByLabel('Email addresses').fill('ada@example.com, grace@example.com');
      await dialog.getByLabel('Recruiter').check();
    },
    send: /^Send/,
    stored: ({ api, team }) =>
      api.rows(
        `select i.email, r.name from invitation i join role r on r.id = i.role_id where i.team_id = $1 order by 1`,
        [team.id],
      ),
    expected: [
      { email: 'ada@example.com', name: 'Recruiter' },
      { email: 'grace@example.com', name: 'Recruiter' },
    ],
  },
  {
    title: 'a privileged role for a member',
    procedures: ['members.setRole'],
    path: async ({ api, team }) => {
      await aNamedRole(api, team);
      await aNamedMember(api, team);
      return `/teams/${team.id}/members`;
    },
    fill: async ({ page, dialog }) => {
      await chooseOf(page, 'Max Member', 'Change role…');
      await dialog.getByRole('radio', { name: 'Recruiter' }).check();
    },
    send: 'Change role',
    stored: ({ api, team }) =>
      api.rows(
        `select r.name from membership m join role r on r.id = m.role_id where m.team_id = $1 and r.id like 'role_%'`,
        [team.id],
      ),
    expected: [{ name: 'Recruiter' }],
  },
  {
    title: 'a later end of a membership with a privileged role',
    procedures: ['members.setExpiry'],
    path: async ({ api, team }) => {
      const max = await aNamedMember(api, team, (await aNamedRole(api, team)).id);
      await api.rows(`update membership set expires_at = now() + interval '1 day' where account_id = $1`, [max.id]);
      return `/teams/${team.id}/members`;
    },
    fill: async ({ page, dialog }) => {
      await chooseOf(page, 'Max Member', 'Change the end date…');
      await dialog.getByLabel('Last day').fill('2999-12-31');
    },
    send: 'Save',
    stored: ({ api, team }) =>
      api.rows(`select 'later' as expiry from membership where team_id = $1 and expires_at > '2999-12-01'`, [team.id]),
    expected: [{ expiry: 'later' }],
  },
  {
    title: 'a role with a privileged permission',
    procedures: ['roles.create'],
    path: ({ team }) => `/teams/${team.id}/roles`,
    fill: async ({ page, dialog }) => {
      await click(page, 'Create role');
      await dialog.getByLabel('Name').fill('Recruiter');
      await dialog.getByLabel('Invite people and revoke invitations').check();
    },
    send: 'Create role',
    stored: ({ api, team }) => api.rows(ROLES, [team.id]),
    expected: [{ name: 'Recruiter', permissions: ['invite_members'] }],
  },
  {
    title: 'a privileged permission for a role',
    procedures: ['roles.update'],
    path: async ({ api, team }) => {
      await aNamedRole(api, team, ['access_dashboard']);
      return `/teams/${team.id}/roles`;
    },
    fill: async ({ page, dialog }) => {
      await chooseOf(page, 'Recruiter', 'Edit Recruiter');
      await dialog.getByLabel('Name').fill('Head recruiter');
      await dialog.getByLabel('Invite people and revoke invitations').check();
    },
    send: 'Save',
    stored: ({ api, team }) => api.rows(`${ROLES.replace('order', `and name like 'Head%' order`)}`, [team.id]),
    expected: [{ name: 'Head recruiter', permissions: ['access_dashboard', 'invite_members'] }],
  },
  {
    title: 'a privileged replacement of a role',
    procedures: ['roles.delete'],
    path: async ({ api, team }) => {
      await aNamedRole(api, team);
      const { id } = await api.aRole(team, []);
      await api.rows(`update role set name = 'Trainee' where id = $1`, [id]);
      return `/teams/${team.id}/roles`;
    },
    fill: async ({ page, dialog }) => {
      await chooseOf(page, 'Trainee', 'Delete Trainee');
      await dialog.getByLabel('Replacement role').selectOption('Recruiter');
    },
    send: 'Delete role',
    stored: async ({ api, team }) =>
      (await api.rows<{ name: string }>(ROLES, [team.id])).filter((_, i, { length }) => length === 1 && i === 0),
    expected: [{ name: 'Recruiter', permissions: [...PRIVILEGED] }],
  },
  {
    title: 'an API key',
    procedures: ['apiKeys.create'],
    path: () => '/api-keys',
    fill: async ({ page, dialog }) => {
      await click(page, 'Create key');
      await dialog.getByLabel('Name').fill('Backups');
      await dialog.getByLabel('Expires').selectOption('In a year');
    },
    send: 'Create key',
    stored: ({ api, owner }) =>
      api.rows(`select name, expires_at > now() + interval '360 days' as is_long from api_key where account_id = $1`, [
        owner.id,
      ]),
    expected: [{ name: 'Backups', is_long: true }],
  },
  {
    title: 'more scopes for an API key',
    procedures: ['updateApiKey'],
    path: async ({ api, owner }) => {
      const { id } = await api.anApiKey(owner, { scopes: ['teams:read'] });
      await api.rows(`update api_key set name = 'Backups' where id = $1`, [id]);
      return '/api-keys';
    },
    fill: async ({ page, dialog }) => {
      await chooseOf(page, 'Backups', 'Change scopes of Backups');
      await dialog.getByLabel('See the members, roles and invitations').check();
    },
    send: 'Save',
    stored: ({ api, owner }) =>
      api.rows(`select scopes from api_key where account_id = $1 and cardinality(scopes) > 1`, [owner.id]),
    expected: [{ scopes: ['teams:read', 'members:read'] }],
  },
  {
    title: 'more permissions for an API key',
    procedures: ['apiKeys.setPermissions'],
    path: async ({ api, owner }) => {
      await declarePermissions(api, [{ name: 'invoices:write', title: { en: 'Write invoices' }, keys: true }]);
      const { id } = await api.anApiKey(owner, { scopes: ['teams:read'] });
      await api.rows(`update api_key set name = 'Backups' where id = $1`, [id]);
      return '/api-keys';
    },
    fill: async ({ page, dialog }) => {
      await chooseOf(page, 'Backups', 'Change permissions of Backups');
      await dialog.getByLabel('Write invoices').check();
    },
    send: 'Save',
    stored: ({ api, owner }) =>
      api.rows(
        `select product_permissions as names from api_key where account_id = $1 and product_permissions <> '{}'`,
        [owner.id],
      ),
    expected: [{ names: ['invoices:write'] }],
  },
  {
    title: 'a new secret of an API key',
    procedures: ['apiKeys.rotate'],
    path: async ({ api, owner }) => {
      const { id } = await api.anApiKey(owner, { scopes: ['teams:read'] });
      await api.rows(`update api_key set name = 'Backups' where id = $1`, [id]);
      return '/api-keys';
    },
    fill: async ({ page, dialog }) => {
      await chooseOf(page, 'Backups', 'Rotate secret of Backups');
      await dialog.getByLabel('Current secret stays valid').selectOption('For 7 days');
    },
    send: 'Rotate secret',
    stored: ({ api, owner }) =>
      api.rows(
        `select s.expires_at > now() + interval '6 days' as is_long from api_key_secret s
         join api_key k on k.id = s.api_key_id where k.account_id = $1 and s.expires_at is not null`,
        [owner.id],
      ),
    expected: [{ is_long: true }],
  },
  {
    title: 'a webhook endpoint',
    procedures: ['webhooks.create'],
    path: ({ team }) => `/teams/${team.id}/webhooks`,
    fill: async ({ page, dialog }) => {
      await click(page, 'Create endpoint');
      await dialog.getByLabel('URL').fill('https://hooks.example/');
      await dialog.getByLabel('Selected events').check();
      await dialog.getByLabel('team.updated', { exact: true }).check();
    },
    send: 'Create endpoint',
    stored: ({ api, team }) => api.rows('select url, types from webhook_endpoint where team_id = $1', [team.id]),
    expected: [{ url: 'https://hooks.example/', types: ['team.updated'] }],
  },
  {
    title: 'another URL and all events of a webhook endpoint',
    procedures: ['webhooks.update'],
    path: ({ api, team, owner }) => anEndpoint(api, team, owner),
    fill: async ({ page, dialog }) => {
      await chooseOf(page, 'https://hooks.example/', 'Edit https://hooks.example/');
      await dialog.getByLabel('URL').fill('https://elsewhere.example/');
      await dialog.getByLabel('All events, also future ones').check();
    },
    send: 'Save',
    stored: ({ api, team }) =>
      api.rows(`select url, types from webhook_endpoint where team_id = $1 and url like '%elsewhere%'`, [team.id]),
    expected: [{ url: 'https://elsewhere.example/', types: [] }],
  },
  {
    title: 'a new secret of a webhook endpoint',
    procedures: ['webhooks.rotateSecret'],
    path: ({ api, team, owner }) => anEndpoint(api, team, owner),
    fill: async ({ page, dialog }) => {
      await chooseOf(page, 'https://hooks.example/', 'Rotate the secret of https://hooks.example/');
      await dialog.getByLabel('Current secret stays valid').selectOption('For 7 days');
    },
    send: 'Rotate secret',
    stored: ({ api, team }) =>
      api.rows(
        `select previous_expires_at > now() + interval '6 days' as is_long from webhook_endpoint
         where team_id = $1 and previous_secret is not null`,
        [team.id],
      ),
    expected: [{ is_long: true }],
  },
  {
    title: 'an OAuth client',
    procedures: ['oauthClients.create'],
    path: () => '/developer',
    fill: async ({ page, dialog }) => {
      await click(page, 'Register application');
      await dialog.getByLabel('Name').fill('Planner of mine');
      await dialog.getByLabel('Redirect URIs').fill('https://planner.example/callback');
    },
    send: 'Register',
    stored: ({ api, owner }) =>
      api.rows('select name, redirect_uris as uris from oauth_client where account_id = $1', [owner.id]),
    expected: [{ name: 'Planner of mine', uris: ['https://planner.example/callback'] }],
  },
  {
    title: 'another redirect URI of an OAuth client',
    procedures: ['oauthClients.update'],
    path: ({ api, owner }) => aClient(api, owner),
    fill: async ({ page, dialog }) => {
      await chooseOf(page, 'My planner', 'Edit My planner');
      await dialog.getByLabel('Redirect URIs').fill('https://other.example/callback');
    },
    send: 'Save',
    stored: ({ api, owner }) =>
      api.rows(
        `select redirect_uris as uris from oauth_client where account_id = $1 and redirect_uris::text like '%other%'`,
        [owner.id],
      ),
    expected: [{ uris: ['https://other.example/callback'] }],
  },
  {
    title: 'a new secret of an OAuth client',
    procedures: ['oauthClients.rotateSecret'],
    path: ({ api, owner }) => aClient(api, owner),
    fill: async ({ page, dialog }) => {
      await chooseOf(page, 'My planner', 'Rotate secret of My planner');
      await dialog.getByLabel('Current secret stays valid').selectOption('For 7 days');
    },
    send: 'Rotate secret',
    stored: ({ api, owner }) =>
      api.rows(
        `select s.expires_at > now() + interval '6 days' as is_long from oauth_client_secret s
         join oauth_client c on c.id = s.client_id where c.account_id = $1 and s.expires_at is not null`,
        [owner.id],
      ),
    expected: [{ is_long: true }],
  },
  {
    title: 'a new passkey',
    procedures: ['passkeys.registrationOptions', 'passkeys.register'],
    path: () => '/account',
    fill: async ({ page, dialog }) => {
      await plugIn(page);
      await click(page, 'Add passkey');
      await dialog.getByLabel('Name').fill('Laptop of Ada');
    },
    send: 'Add passkey',
    stored: ({ api, owner }) => api.rows('select name from passkey where account_id = $1', [owner.id]),
    expected: [{ name: 'Laptop of Ada' }],
  },
  {
    title: 'the removal of a passkey',
    procedures: ['passkeys.remove'],
    path: async ({ api, owner }) => {
      await api.rows(
        `insert into passkey (id, account_id, name, credential_id, public_key, counter, transports, created_at)
         values ('pk_' || $1, $1, 'Laptop', $1, '\\x00', 0, '{}', now())`,
        [owner.id],
      );
      return '/account';
    },
    fill: ({ page }) => chooseOf(page, 'Laptop', 'Remove the passkey Laptop'),
    send: 'Remove',
    stored: ({ api, owner }) =>
      api.rows('select count(*)::int as passkeys from passkey where account_id = $1 having count(*) = 0', [owner.id]),
    expected: [{ passkeys: 0 }],
  },
  {
    title: 'the deletion of a team',
    procedures: ['teams.delete'],
    path: async ({ api, team }) => {
      await api.rows(`update team set name = 'Kites' where id = $1`, [team.id]);
      return `/teams/${team.id}/settings`;
    },
    fill: async ({ page, dialog }) => {
      await click(page, 'Delete team…');
      await dialog.getByLabel('Type the team’s name to confirm').fill('Kites');
    },
    send: 'Delete team',
    stored: ({ api, team }) =>
      api.rows('select count(*)::int as teams from team where id = $1 having count(*) = 0', [team.id]),
    expected: [{ teams: 0 }],
  },
  {
    title: 'an operator key',
    procedures: ['operator.createOperatorKey'],
    path: async ({ api, owner }) => {
      await asOperator(api, owner);
      return '/operator/keys';
    },
    fill: async ({ page, dialog }) => {
      await click(page, 'Create operator key');
      await dialog.getByLabel('Name').fill('Backend');
      await dialog.getByLabel('accounts:read').check();
      await dialog.getByLabel('Allowed IP addresses').fill('203.0.113.0/24');
    },
    send: 'Create operator key',
    stored: ({ api }) => api.rows(`select scopes, addresses from operator_key where name = 'Backend'`),
    expected: [{ scopes: ['accounts:read'], addresses: ['203.0.113.0/24'] }],
  },
  {
    title: 'an application of the operator',
    procedures: ['operator.createClient', 'operator.updateClient'],
    path: async ({ api, owner }) => {
      await asOperator(api, owner);
      return '/operator/clients';
    },
    fill: async ({ page, dialog }) => {
      await click(page, 'Register application');
      await dialog.getByLabel('Name').fill('Product');
      await dialog.getByLabel('members:read').check();
      await dialog.getByLabel('Redirect URIs').fill('https://app.example/cb');
      await dialog.getByLabel('Home page').fill('https://app.example/');
    },
    send: 'Register',
    stored: ({ api }) => api.rows(`select scopes, home_url from oauth_client where name = 'Product'`),
    expected: [{ scopes: ['profile:read', 'teams:read', 'members:read'], home_url: 'https://app.example/' }],
  },
  {
    title: 'an account that an operator creates',
    procedures: ['operator.createAccount'],
    path: async ({ api, owner }) => {
      await asOperator(api, owner);
      return '/operator/accounts';
    },
    fill: async ({ page, dialog }) => {
      await click(page, 'Create account');
      await dialog.getByLabel('Email', { exact: true }).fill('made@operator.example');
      await dialog.getByLabel('I know that the email address').check();
    },
    send: 'Create account',
    stored: ({ api }) =>
      api.rows(
        `select email_verified_at is not null as is_verified from account where email = 'made@operator.example'`,
      ),
    expected: [{ is_verified: true }],
  },
  {
    title: 'a member whom an operator adds',
    procedures: ['operator.addMember'],
    path: async ({ api, owner, team }) => {
      await asOperator(api, owner);
      await api.anAccount({ email: 'added@operator.example' });
      return `/operator/teams/${team.id}/members`;
    },
    fill: async ({ page, dialog }) => {
      await click(page, 'Add member');
      await dialog.getByLabel('Account').fill('added@operator.example');
      await dialog.getByLabel('Role').selectOption('guest');
    },
    send: 'Add member',
    stored: ({ api, team }) =>
      api.rows(`select role_id from membership where team_id = $1 and role_id <> 'owner'`, [team.id]),
    expected: [{ role_id: 'guest' }],
  },
  {
    title: 'another role that an operator gives',
    procedures: ['operator.updateMember'],
    path: async ({ api, owner, team }) => {
      await asOperator(api, owner);
      await aNamedMember(api, team);
      return `/operator/teams/${team.id}/members`;
    },
    fill: async ({ page, dialog }) => {
      await chooseOf(page, 'Max Member', 'Change');
      await dialog.getByLabel('Role').selectOption('guest');
    },
    send: 'Save',
    stored: ({ api, team }) =>
      api.rows(`select role_id from membership where team_id = $1 and role_id = 'guest'`, [team.id]),
    expected: [{ role_id: 'guest' }],
  },
  {
    title: 'another owner whom an operator names',
    procedures: ['operator.transferTeam'],
    path: async ({ api, owner, team }) => {
      await asOperator(api, owner);
      await api.anAccount({ email: 'owner@operator.example' });
      return `/operator/teams/${team.id}`;
    },
    fill: async ({ page, dialog }) => {
      await click(page, 'Transfer ownership…');
      await dialog.getByLabel('Owner').fill('owner@operator.example');
    },
    send: 'Transfer ownership',
    stored: ({ api, team, owner }) =>
      api.rows(`select role_id from membership where team_id = $1 and role_id = 'owner' and account_id <> $2`, [
        team.id,
        owner.id,
      ]),
    expected: [{ role_id: 'owner' }],
  },
  {
    title: 'another address that an operator sets',
    procedures: ['operator.updateAccount'],
    path: async ({ api, owner }) => {
      await asOperator(api, owner);
      return `/operator/accounts/${(await api.anAccount()).id}`;
    },
    fill: async ({ page, dialog }) => {
      await click(page, 'Edit account');
      await dialog.getByLabel('Email', { exact: true }).fill('set@operator.example');
    },
    send: 'Save',
    stored: ({ api }) => api.rows(`select 1 as found from account where email = 'set@operator.example'`),
    expected: [{ found: 1 }],
  },
];

/** What needs a proof, but whose form has nothing to enter, or only what is not kept. */
export const NOTHING_KEPT: Readonly<Record<string, string>> = {
  'authorizations.approve': 'tested with a real application',
  'account.changePassword': 'passwords are not kept',
  'account.changeEmail': 'the form is part of the page: tested below',
  'account.delete': 'a button',
  'invitations.resend': 'a button',
  'members.activate': 'a menu item',
  'teams.offerOwnership': 'a button',
  'teams.acceptOwnership': 'a button',
  'operator.rotateOperatorKey': 'the same form as other secrets',
  'operator.rotateClientSecret': 'the same form as other secrets',
  'operator.applyPermissions': 'is previewed again after a link: its proof is tested below',
  'operator.deleteAccount': 'a button',
  'operator.enableAccount': 'a button',
  'operator.deleteTeam': 'a button',
};
