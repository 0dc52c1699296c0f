import type { Prepared, Scene } from '../events/mutations.ts';
import { anAddress } from './people.ts';
import type { Permission } from '../../src/entities/index.ts';
import { aTemplate, aTemplateName } from './role-templates.ts';
import { aPermission, aWiderCatalogue } from './product-permissions.ts';

type Prepare = (scene: Scene) => Promise<Prepared> | Prepared;

const aPrivilegedRole = ({ api, team }: Scene) => api.aRole(team, ['access_dashboard', 'invite_members']);
const aPlainRole = ({ api, team }: Scene) => api.aRole(team, ['access_dashboard']);

/** Both cases of what depends on a role: with a privileged one, and with another. */
const byRole = (
  prepare: (scene: Scene, role: { id: string }) => Promise<Prepared> | Prepared,
): Record<'widening' | 'harmless', Prepare> => ({
  widening: async (scene) => prepare(scene, await aPrivilegedRole(scene)),
  harmless: async (scene) => prepare(scene, await aPlainRole(scene)),
});

const invite = (name: 'createTeamInvitation' | 'invitations.create') =>
  byRole(({ team }, { id: roleId }) => {
    const input = { teamId: team.id, email: anAddress(), roleId, isSystemRole: false };
    return {
      call: (trpc) =>
        name === 'createTeamInvitation'
          ? trpc.createTeamInvitation.mutate(input)
          : trpc.invitations.create.mutate(input),
    };
  });

const inDays = (days: number) => new Date(Date.now() + days * 86_400_000);

const aMemberWith = async (
  { api, team }: Scene,
  role: { id: string },
  options: { active?: boolean; expiresAt?: Date } = {},
) => {
  const account = await api.anAccount();
  await api.aMember(team, account, { role: role.id, ...options });
  return { teamId: team.id, userId: account.id };
};

const setPermissions =
  (permissions: readonly ('access_dashboard' | 'manage_api_keys' | 'invite_members')[]): Prepare =>
  async (scene) => {
    const { id: roleId } = await aPrivilegedRole(scene);
    const input = { teamId: scene.team.id, roleId, permissions: [...permissions] };
    return { call: (trpc) => trpc.roles.update.mutate(input) };
  };

const setScopes =
  (scopes: readonly ('teams:read' | 'members:read')[]): Prepare =>
  async ({ api, owner }) => {
    const { id: keyId } = await api.anApiKey(owner, { scopes: ['teams:read', 'teams:write'] });
    return { call: (trpc) => trpc.updateApiKey.mutate({ keyId, scopes: [...scopes] }) };
  };

const setRedirects =
  (redirectUris: readonly string[] | undefined): Prepare =>
  async ({ api, owner }) => {
    const { id: clientId } = await api.anOAuthClient({ owner, redirectUri: 'https://client.example/callback' });
    return {
      call: (trpc) =>
        trpc.oauthClients.update.mutate({
          clientId,
          name: 'Another',
          ...(redirectUris && { redirectUris: [...redirectUris] }),
        }),
    };
  };

const setEnd = (days: number) =>
  byRole(async (scene, role) => {
    const input = {
      ...(await aMemberWith(scene, role, { expiresAt: inDays(5) })),
      expiresAt: inDays(days).toISOString(),
    };
    return { call: (trpc) => trpc.members.setExpiry.mutate(input) };
  });

/** For every procedure whose effect depends on the case: one that widens access, and others that do not. */
export const CASES: Readonly<
  Record<string, { readonly widening: readonly Prepare[]; readonly harmless: readonly Prepare[] }>
> = {
  createTeamInvitation: both(invite('createTeamInvitation')),
  'invitations.create': both(invite('invitations.create')),
  'invitations.resend': both(
    byRole(async ({ api, team }, { id: role }) => {
      const { id: invitationId } = await api.anInvitation(team, { role });
      return { call: (trpc) => trpc.invitations.resend.mutate({ teamId: team.id, invitationId }) };
    }),
  ),
  updateApiKey: {
    widening: [setScopes(['teams:read', 'members:read'])],
    harmless: [setScopes(['teams:read'])],
  },
  'members.setRole': both(
    byRole(({ team, member }, { id: roleId }) => ({
      call: (trpc) => trpc.members.setRole.mutate({ teamId: team.id, userId: member.id, roleId }),
    })),
  ),
  'members.activate': both(
    byRole(async (scene, role) => {
      const input = await aMemberWith(scene, role, { active: false });
      return { call: (trpc) => trpc.members.activate.mutate(input) };
    }),
  ),
  'members.setExpiry': {
    widening: [setEnd(9).widening],
    harmless: [setEnd(9).harmless, setEnd(2).widening],
  },
  'roles.create': {
    widening: [
      ({ team }) => ({
        call: (trpc) => trpc.roles.create.mutate({ teamId: team.id, name: 'Hosts', permissions: ['invite_members'] }),
      }),
    ],
    harmless: [
      ({ team }) => ({
        call: (trpc) =>
          trpc.roles.create.mutate({ teamId: team.id, name: 'Readers', permissions: ['access_dashboard'] }),
      }),
    ],
  },
  'roles.update': {
    widening: [setPermissions(['access_dashboard', 'invite_members', 'manage_api_keys'])],
    harmless: [setPermissions(['access_dashboard', 'invite_members']), setPermissions(['access_dashboard'])],
  },
  'roles.delete': both(
    byRole(async (scene, { id: replacementRoleId }) => {
      const { id: roleId } = await aPlainRole(scene);
      await scene.api.aMember(scene.team, await scene.api.anAccount(), { role: roleId });
      return { call: (trpc) => trpc.roles.delete.mutate({ teamId: scene.team.id, roleId, replacementRoleId }) };
    }),
  ),
  'apiKeys.setPermissions': {
    widening: [keyPermissions(async (api) => [await aPermission(api)])],
    harmless: [keyPermissions(() => Promise.resolve([]))],
  },
  'operator.applyPermissions': { widening: [applyPermissions(false)], harmless: [applyPermissions(true)] },
  'operator.createRoleTemplate': {
    widening: [createTemplate(['access_dashboard', 'invite_members'])],
    harmless: [createTemplate(['access_dashboard'])],
  },
  'operator.updateRoleTemplate': {
    widening: [updateTemplate([], ['manage_api_keys'])],
    harmless: [
      updateTemplate([], ['access_billing']),
      updateTemplate(['manage_api_keys'], ['access_billing', 'manage_api_keys']),
      updateTemplate(['manage_api_keys'], []),
    ],
  },
  'oauthClients.update': {
    widening: [setRedirects(['https://client.example/callback', 'https://other.example/callback'])],
    harmless: [setRedirects(undefined), setRedirects(['https://client.example/callback'])],
  },
};

function keyPermissions(permissionsOf: (api: Scene['api']) => Promise<string[]>): Prepare {
  return async ({ api, owner }) => {
    const { id: keyId } = await api.anApiKey(owner);
    const permissions = await permissionsOf(api);
    return { call: (trpc) => trpc.apiKeys.setPermissions.mutate({ keyId, permissions }) };
  };
}

function applyPermissions(dryRun: boolean): Prepare {
  return async ({ api, owner }) => {
    await api.rows(`update account set role = 'admin' where id = $1`, [owner.id]);
    const { permissions } = await aWiderCatalogue(api);
    return { call: (trpc) => trpc.operator.applyPermissions.mutate({ permissions, dryRun }) };
  };
}

function createTemplate(permissions: Permission[]): Prepare {
  return async ({ api, owner }) => {
    await api.rows(`update account set role = 'admin' where id = $1`, [owner.id]);
    const name = aTemplateName(api);
    return { call: (trpc) => trpc.operator.createRoleTemplate.mutate({ name, permissions }) };
  };
}

function updateTemplate(before: Permission[], permissions: Permission[]): Prepare {
  return async ({ api, owner }) => {
    await api.rows(`update account set role = 'admin' where id = $1`, [owner.id]);
    const templateId = await aTemplate(api, before);
    return { call: (trpc) => trpc.operator.updateRoleTemplate.mutate({ templateId, permissions }) };
  };
}

function both({ widening, harmless }: Record<'widening' | 'harmless', Prepare>) {
  return { widening: [widening], harmless: [harmless] };
}
