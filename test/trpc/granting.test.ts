import type { AnyTRPCProcedure } from '@trpc/server';
import { describe, expect } from 'vitest';
import type { z } from 'zod';
import { PERMISSIONS, type Permission } from '../../src/entities/index.ts';
import { appRouter } from '../../src/router.ts';
import { test, type Api } from '../support/api.ts';
import { anInvitationWithLink, as, inMinutes, outcomeOf, type Trpc } from './console.ts';

const procedures = Object.entries(appRouter._def.procedures as unknown as Record<string, AnyTRPCProcedure>); // flat by path, which the type of a nested router does not say

/** The parameters of a mutation, by name. */
const parametersOf = ({ _def }: AnyTRPCProcedure): readonly string[] => {
  const { inputs = [] } = _def as unknown as { inputs?: readonly z.ZodObject[] }; // not in the public type
  return inputs.flatMap(({ shape }) => Object.keys(shape));
};

/** The changes of a team. Those of operators have no ceiling, and are tested elsewhere to need the role. */
const CHANGES = procedures.filter(
  ([path, procedure]) =>
    procedure._def.type === 'mutation' && !path.startsWith('operator') && parametersOf(procedure).includes('teamId'),
);

/** The permission that the caller lacks, and the roles beyond theirs hold. */
const BEYOND: Permission = 'manage_api_keys';
const HELD = PERMISSIONS.filter((permission) => permission !== BEYOND);

/** Members with a role beyond the caller’s in every state, one with a role below it, and invitations to both. */
async function aScene(api: Api) {
  const owner = await api.anAccount();
  const team = await api.aTeam({ owner });
  await api.aSubscription(team);
  const [high, low] = [await api.aRole(team, [BEYOND]), await api.aRole(team, [])];
  const aMember = async (terms: Parameters<Api['aMember']>[2]) => {
    const account = await api.anAccount();
    await api.aMember(team, account, terms);
    return account;
  };
  const caller = await aMember({ role: (await api.aRole(team, HELD)).id });
  const members = [
    await aMember({ role: low.id }),
    await aMember({ role: high.id, active: false }),
    await aMember({ role: high.id, expiresAt: inMinutes(-1) }),
    await aMember({ role: high.id, expiresAt: inMinutes(60) }),
  ];
  const [, , expired] = members;
  const invitation = await anInvitationWithLink(api, team, { role: high.id });
  await api.rows('update invitation set invited_by_id = $2 where id = $1', [invitation.id, owner.id]);
  return { owner, caller, team, high, low, members, addresses: ['new@example.com', expired?.email ?? ''], invitation };
}

type Scene = Awaited<ReturnType<typeof aScene>>;

/** What a change could be asked for. A parameter that is not here is unknown, so a new one has to be added. */
const VALUES: Readonly<Record<string, (scene: Scene) => readonly unknown[]>> = {
  teamId: ({ team }) => [team.id],
  userId: ({ members }) => members.map(({ id }) => id),
  roleId: ({ high, low }) => [high.id, low.id],
  replacementRoleId: ({ high }) => [high.id],
  permissions: () => [[BEYOND]],
  // Of the product: `test/operator/permissions.test.ts` gives them.
  productPermissions: () => [undefined],
  isSystemRole: () => [false],
  expiresAt: () => [null, inMinutes(600).toISOString()],
  email: ({ addresses }) => addresses,
  invitationId: ({ invitation }) => [invitation.id],
  name: () => ['A name'],
  scopes: () => [['teams:read']],
  // These change no membership and no role.
  ...Object.fromEntries(
    ['description', 'avatarUrl', 'url', 'types', 'signature', 'endpointId', 'deliveryId', 'since', 'overlapHours']
      .concat('keyId', 'id', 'accountId', 'expiresInDays')
      .map((name) => [name, () => [undefined]]),
  ),
};

/** Every combination of the values of the parameters. */
const inputsOf = (parameters: readonly string[], scene: Scene): Record<string, unknown>[] =>
  parameters.reduce<Record<string, unknown>[]>(
    (inputs, name) =>
      inputs.flatMap((input) => (VALUES[name]?.(scene) ?? []).map((value) => ({ ...input, [name]: value }))),
    [{}],
  );

const call = (trpc: Trpc, path: string, input: unknown): Promise<unknown> => {
  const procedure = path.split('.').reduce<unknown>((part, name) => (part as Record<string, unknown>)[name], trpc); // a client has a member for each part of a path
  return (procedure as { mutate: (input: unknown) => Promise<unknown> }).mutate(input);
};

type Access = { readonly who: string; readonly role: string; readonly until: number };

/** Until when each account and each invited address has a role beyond the caller’s. */
async function accessBeyond(api: Api, { team, owner }: Scene): Promise<Access[]> {
  const rows = await api.rows<{ who: string; role: string; until: Date | null }>(
    `select m.account_id as who, r.id as role, m.expires_at as until from membership m join role r on r.id = m.role_id
     where m.team_id = $1 and m.account_id <> $3 and m.is_active and $2 = any(r.permissions)
       and (m.expires_at is null or m.expires_at > now())
     union all
     select i.id, r.id, i.expires_at from invitation i join role r on r.id = i.role_id
     where i.team_id = $1 and $2 = any(r.permissions) and i.accepted_at is null and i.expires_at > now()`,
    [team.id, BEYOND, owner.id],
  );
  return rows.map(({ who, role, until }) => ({
    who,
    role,
    until: until === null ? Infinity : new Date(until).getTime(),
  }));
}

/** Makes a change with each of its inputs, each in a team of its own. @returns whether one of them gave access beyond */
async function gives(api: Api, path: string, parameters: readonly string[], by: 'caller' | 'owner'): Promise<boolean> {
  const given: Access[] = [];
  for (let i = 0, number = 1; i < number; i += 1) {
    const scene = await aScene(api);
    const inputs = inputsOf(parameters, scene);
    number = inputs.length;
    const trpc = await as(api, scene[by]);
    const before = await accessBeyond(api, scene);
    await outcomeOf(call(trpc, path, inputs[i]));
    const after = await accessBeyond(api, scene);
    given.push(...after.filter(({ who, until }) => !before.some((had) => had.who === who && had.until >= until)));
  }
  return given.length > 0;
}

describe('access beyond the caller’s permissions', () => {
  test('each parameter of a change of a team is known here', () => {
    const parameters = new Set(CHANGES.flatMap(([, procedure]) => parametersOf(procedure)));
    expect([...parameters].filter((name) => VALUES[name] === undefined)).toEqual([]);
  });

  test.for(CHANGES.map(([path, procedure]) => [path, parametersOf(procedure)] as const))(
    'is neither given, given back nor prolonged by %s',
    async ([path, parameters], { api }) => {
      expect(await gives(api, path, parameters, 'caller')).toBe(false);
    },
  );

  // Guarantees that the tests above call what gives access in the way in which it does.
  test('is given by these alone, if the owner calls them', async ({ api }) => {
    const giving: string[] = [];
    for (const [path, procedure] of CHANGES)
      if (await gives(api, path, parametersOf(procedure), 'owner')) giving.push(path);

    expect(giving.toSorted()).toEqual([
      'createTeamInvitation',
      'invitations.create',
      'invitations.resend',
      'members.activate',
      'members.setExpiry',
      'members.setRole',
      'roles.delete',
      'roles.update',
    ]);
  });
});
