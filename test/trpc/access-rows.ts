import type { Api } from '../support/api.ts';

/** What gives access now, by the columns that decide to what. What has ended gives none. */
const ACCESS = {
  session: 'select id, expires_at from session where revoked_at is null',
  account: 'select id, email, email_verified_at, password_hash, role from account where disabled_at is null',
  account_token: 'select * from account_token',
  passkey: 'select id, account_id from passkey',
  api_key: `select id, account_id, team_id, scopes, product_permissions, expires_at from api_key where revoked_at is null`,
  api_key_secret: 'select secret_hash, expires_at from api_key_secret',
  oauth_grant: `select id, account_id, team_id, scopes, openid_scopes, product_permissions, expires_at from oauth_grant
    where revoked_at is null`,
  oauth_token_family: 'select id, scopes, openid_scopes, product_permissions from oauth_token_family',
  oauth_client: `select id, redirect_uris, scopes, product_permissions, session_days, has_token_limit, is_first_party from oauth_client
    where deleted_at is null`,
  oauth_client_secret: 'select secret_hash, expires_at from oauth_client_secret',
  membership: 'select id, account_id, team_id, role_id, expires_at from membership where is_active',
  role: 'select id, permissions, product_permissions from role',
  role_template: 'select id, permissions, product_permissions from role_template',
  declared_permission: 'select name, roles, is_for_keys from declared_permission',
  invitation: 'select id, email, role_id, expires_at from invitation where accepted_at is null',
  invitation_link: 'select token_hash from invitation_link',
  ownership_transfer: 'select team_id, nominee_id from ownership_transfer',
  webhook_endpoint: `select id, url, types, secret, account_id from webhook_endpoint
    where paused_at is null and disabled_at is null and deleted_at is null`,
  operator_key: 'select id, scopes, addresses, expires_at from operator_key where revoked_at is null',
  operator_key_secret: 'select secret_hash, expires_at from operator_key_secret',
} as const;

export type AccessTable = keyof typeof ACCESS;

/** Reads everything that gives access. */
export async function readAccess({ rows }: Api): Promise<ReadonlyMap<AccessTable, ReadonlySet<string>>> {
  const read = async ([table, sql]: [string, string]) =>
    [table as AccessTable, new Set((await rows(sql)).map((row) => JSON.stringify(row)))] as const; // a key of ACCESS
  return new Map(await Promise.all(Object.entries(ACCESS).map(read)));
}

type Access = Awaited<ReturnType<typeof readAccess>>;

/** Returns the tables in which something gives access that did not before. */
export const gainedIn = (before: Access, after: Access): AccessTable[] =>
  [...after].filter(([table, rows]) => [...rows].some((row) => !before.get(table)?.has(row))).map(([table]) => table);

const NOT_PRIVILEGED = 'of a role that is not privileged';
const OWN_TEAM = 'the new team has nobody else’s access';
const LESS = 'less than before';

/** Where mutations give access without declaring an effect, or where their condition is not met, and why that is right. */
export const GAINS: Readonly<Record<string, readonly [reason: string, ...tables: AccessTable[]]>> = {
  'authorizations.continue': ['a first-party client, whose tokens end with the session', 'oauth_token_family'],
  createTeam: [OWN_TEAM, 'membership', 'role'],
  'operator.createTeam': [OWN_TEAM, 'membership', 'role'],
  'operatorApi.createTeam': [OWN_TEAM, 'membership', 'role'],
  createTeamInvitation: [NOT_PRIVILEGED, 'invitation', 'invitation_link'],
  'invitations.create': [NOT_PRIVILEGED, 'invitation', 'invitation_link'],
  'invitations.resend': [NOT_PRIVILEGED, 'invitation', 'invitation_link'],
  'invitations.accept': ['the sender proved it', 'membership'],
  'members.setRole': [NOT_PRIVILEGED, 'membership'],
  'members.activate': [NOT_PRIVILEGED, 'membership'],
  'members.setExpiry': [NOT_PRIVILEGED, 'membership'],
  'roles.create': [NOT_PRIVILEGED, 'role'],
  'roles.update': [NOT_PRIVILEGED, 'role'],
  'roles.delete': [NOT_PRIVILEGED, 'membership'],
  'operator.createRoleTemplate': ['gives nobody a role', 'role_template'],
  'operator.updateRoleTemplate': ['gives nobody a role', 'role_template'],
  updateApiKey: [LESS, 'api_key'],
  'apiKeys.setPermissions': [LESS, 'api_key'],
  'grants.narrow': [LESS, 'oauth_grant'],
  'webhooks.resume': ['as it was before the pause', 'webhook_endpoint'],
  'operatorApi.resumeWebhookEndpoint': ['as it was before the pause', 'webhook_endpoint'],
  'operator.sendLink': ['only the mailbox gets it', 'account_token'],
  'operatorApi.sendLink': ['only the mailbox gets it', 'account_token'],
};
