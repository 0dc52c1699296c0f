import type { Api } from '../support/api.ts';
import { anAddress } from '../trpc/people.ts';
import { aWiderCatalogue } from '../trpc/product-permissions.ts';
import { aTemplate, aTemplateName } from '../trpc/role-templates.ts';
import type { Row, Scene } from './mutations.ts';

type Trpc = Scene['owner']['visitor']['trpc']['operator'];

const asOperator = (api: Api, { id }: { id: string }) =>
  api.rows(`update account set role = 'admin' where id = $1`, [id]);

/** A change in the operator's area of the console, made by the owner of the scene as an operator. */
const area = (
  name: string,
  events: readonly string[],
  change: (operator: Trpc, scene: Scene) => Promise<unknown>,
  prepare: (scene: Scene) => Promise<unknown> = () => Promise.resolve(),
): Row => [
  `operator.${name}`,
  events,
  async (scene) => {
    await asOperator(scene.api, scene.owner);
    await prepare(scene);
    return { call: (trpc) => change(trpc.operator, scene) };
  },
];

/** A job that failed and is tried again in a day. */
export async function aFailedJob(api: Api, reason = 'The mail server is away'): Promise<string> {
  const [job] = await api.rows<{ id: string }>(
    `select id::text from graphile_worker.add_job('nothingDoesThis', run_at := now() + interval '1 day')`,
  );
  await api.rows('update graphile_worker._private_jobs set attempts = 3, last_error = $2 where id = $1', [
    job?.id,
    reason,
  ]);
  return job?.id ?? '';
}

const aKeyOf = (operator: Trpc) =>
  operator.createOperatorKey.mutate({ name: 'A key', scopes: ['teams:read'] }).then(({ key }) => key.id);

/** Prepares the id of a resource for the change of the same row. */
function withId(create: (scene: Scene) => Promise<string>) {
  const ids = new WeakMap<Scene, string>();
  return {
    prepare: async (scene: Scene) => void ids.set(scene, await create(scene)),
    idOf: (scene: Scene) => ids.get(scene) ?? '',
  };
}
const apiKey = withId(async ({ api, member }) => (await api.anApiKey(member)).id);
const operatorKey = withId(({ owner }) => aKeyOf(owner.visitor.trpc.operator));
const CLIENT = {
  name: 'A product',
  redirectUris: ['https://app.example/callback'],
  isConfidential: true,
  scopes: ['profile:read', 'teams:read'] satisfies ['profile:read', 'teams:read'],
};
const client = withId(({ owner }) =>
  owner.visitor.trpc.operator.createClient.mutate(CLIENT).then(({ client: { id } }) => id),
);
const job = withId(({ api }) => aFailedJob(api));
const role = withId(async ({ api, team }) => (await api.aRole(team, [])).id);
const template = withId(({ api }) => aTemplate(api));
const stranger = withId(async ({ api }) => (await api.anAccount()).id);

/** Every change of the operator's area, and the events that it records. */
export const OPERATOR_AREA: readonly Row[] = [
  area('createAccount', ['account.created'], (operator) => operator.createAccount.mutate({ email: anAddress() })),
  area('updateAccount', ['account.profile_changed'], (operator, { member }) =>
    operator.updateAccount.mutate({ accountId: member.id, lastName: 'Byron' }),
  ),
  area('deleteAccount', ['account.deleted', 'member.left'], (operator, { member }) =>
    operator.deleteAccount.mutate({ accountId: member.id }),
  ),
  area('disableAccount', ['operator.account_disabled'], (operator, { member }) =>
    operator.disableAccount.mutate({ accountId: member.id }),
  ),
  area(
    'enableAccount',
    ['operator.account_enabled'],
    (operator, { member }) => operator.enableAccount.mutate({ accountId: member.id }),
    ({ api, member }) => api.rows('update account set disabled_at = now() where id = $1', [member.id]),
  ),
  area(
    'endSessions',
    ['session.ended'],
    (operator, { member }) => operator.endSessions.mutate({ accountId: member.id }),
    ({ api, member }) => api.aSession(member),
  ),
  area('sendLink', ['account.link_emailed'], (operator, { member }) =>
    operator.sendLink.mutate({ accountId: member.id, kind: 'sign_in' }),
  ),
  area('createTeam', ['member.added', 'team.created'], (operator, { member }) =>
    operator.createTeam.mutate({ name: 'New', ownerId: member.id }),
  ),
  area('updateTeam', ['team.updated'], (operator, { team }) =>
    operator.updateTeam.mutate({ teamId: team.id, description: 'New' }),
  ),
  area('deleteTeam', ['team.deleted'], (operator, { team }) => operator.deleteTeam.mutate({ teamId: team.id })),
  area('transferTeam', ['ownership.transferred'], (operator, { team, member }) =>
    operator.transferTeam.mutate({ teamId: team.id, accountId: member.id }),
  ),
  area('setSubscription', ['team.plan_set'], (operator, { team }) =>
    operator.setSubscription.mutate({ teamId: team.id, planId: 'pro' }),
  ),
  area(
    'addMember',
    ['member.added'],
    (operator, scene) => operator.addMember.mutate({ teamId: scene.team.id, accountId: stranger.idOf(scene) }),
    stranger.prepare,
  ),
  area('updateMember', ['member.updated'], (operator, { team, member }) =>
    operator.updateMember.mutate({ teamId: team.id, accountId: member.id, isActive: false }),
  ),
  area('removeMember', ['member.removed'], (operator, { team, member }) =>
    operator.removeMember.mutate({ teamId: team.id, accountId: member.id }),
  ),
  area('createRole', ['role.created'], (operator, { team }) =>
    operator.createRole.mutate({ teamId: team.id, name: 'Helper', permissions: ['invite_members'] }),
  ),
  area(
    'updateRole',
    ['role.updated'],
    (operator, scene) =>
      operator.updateRole.mutate({ teamId: scene.team.id, roleId: role.idOf(scene), permissions: ['access_billing'] }),
    role.prepare,
  ),
  area(
    'deleteRole',
    ['role.deleted'],
    (operator, scene) =>
      operator.deleteRole.mutate({ teamId: scene.team.id, roleId: role.idOf(scene), replacementRoleId: 'guest' }),
    role.prepare,
  ),
  [
    'operator.applyPermissions',
    ['permission_catalogue.changed'],
    async ({ api, owner }) => {
      await asOperator(api, owner);
      const { permissions } = await aWiderCatalogue(api);
      return { call: (trpc) => trpc.operator.applyPermissions.mutate({ permissions }) };
    },
  ],
  area('createRoleTemplate', ['role_template.created'], (operator, { api }) =>
    operator.createRoleTemplate.mutate({ name: aTemplateName(api), permissions: [] }),
  ),
  area(
    'updateRoleTemplate',
    ['role_template.updated'],
    (operator, scene) =>
      operator.updateRoleTemplate.mutate({ templateId: template.idOf(scene), permissions: ['access_billing'] }),
    template.prepare,
  ),
  area(
    'deleteRoleTemplate',
    ['role_template.deleted'],
    (operator, scene) => operator.deleteRoleTemplate.mutate({ templateId: template.idOf(scene) }),
    template.prepare,
  ),
  area('updateAccountMetadata', ['account.metadata_changed'], (operator, { member }) =>
    operator.updateAccountMetadata.mutate({ accountId: member.id, public: { a: 1 } }),
  ),
  area('updateTeamMetadata', ['team.metadata_changed', 'team.private_metadata_changed'], (operator, { team }) =>
    operator.updateTeamMetadata.mutate({ teamId: team.id, public: { a: 1 }, private: { b: 2 } }),
  ),
  area('updateMemberMetadata', ['member.private_metadata_changed'], (operator, { team, member }) =>
    operator.updateMemberMetadata.mutate({ teamId: team.id, accountId: member.id, private: { b: 2 } }),
  ),
  area('createOperatorKey', ['operator_key.created'], aKeyOf),
  area(
    'rotateOperatorKey',
    ['operator_key.rotated'],
    (operator, scene) => operator.rotateOperatorKey.mutate({ keyId: operatorKey.idOf(scene) }),
    operatorKey.prepare,
  ),
  area(
    'revokeOperatorKey',
    ['operator_key.revoked'],
    (operator, scene) => operator.revokeOperatorKey.mutate({ keyId: operatorKey.idOf(scene) }),
    operatorKey.prepare,
  ),
  area('createClient', ['oauth_client.created'], (operator) => operator.createClient.mutate(CLIENT)),
  area(
    'updateClient',
    ['oauth_client.updated'],
    (operator, scene) => operator.updateClient.mutate({ clientId: client.idOf(scene), scopes: ['teams:read'] }),
    client.prepare,
  ),
  area(
    'rotateClientSecret',
    ['oauth_client.secret_rotated'],
    (operator, scene) => operator.rotateClientSecret.mutate({ clientId: client.idOf(scene) }),
    client.prepare,
  ),
  area(
    'deleteClient',
    ['oauth_client.deleted'],
    (operator, scene) => operator.deleteClient.mutate({ clientId: client.idOf(scene) }),
    client.prepare,
  ),
  area(
    'revokeKey',
    ['api_key.revoked'],
    (operator, scene) => operator.revokeKey.mutate({ keyId: apiKey.idOf(scene) }),
    apiKey.prepare,
  ),
  area(
    'retryJobs',
    ['operator.jobs_retried'],
    (operator, scene) => operator.retryJobs.mutate({ jobId: job.idOf(scene) }),
    job.prepare,
  ),
];
