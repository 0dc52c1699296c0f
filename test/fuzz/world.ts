import { isAccountOnly } from '../../src/auth/scopes.ts';
import { SCOPES, type Scope } from '../../src/entities/index.ts';
import type { Api } from '../support/api.ts';
import type { Answer } from '../support/client.ts';

export type Credential = {
  readonly secret: string | null;
  /** Those that the credential can use; null where it is no valid one. */
  readonly scopes: readonly Scope[] | null;
  readonly audience: 'personal' | 'team';
  /** Whether other requests may revoke or narrow it meanwhile. */
  readonly isFading?: boolean;
};

export const CREDENTIALS = [
  'owner',
  'ownerToken',
  'teamKey',
  'teamToken',
  'reader',
  'writer',
  'narrowToken',
  'guest',
  'outsider',
  'former',
  'fading',
  'none',
  'revoked',
  'expired',
  'session',
  'mistyped',
  'invented',
] as const;
export type CredentialName = (typeof CREDENTIALS)[number];

/** What requests name: ours, somebody else's, and what is no more. */
export const THINGS = {
  teamId: ['team', 'guestTeam', 'formerTeam', 'foreignTeam', 'newTeam'],
  userId: ['member', 'owner', 'outsider', 'teamless'],
  sessionId: ['session', 'foreignSession'],
  invitationId: ['invitation', 'foreignInvitation', 'acceptedInvitation', 'newInvitation'],
  keyId: ['key', 'teamsKey', 'foreignKey', 'revokedKey', 'newKey'],
  roleId: ['role', 'foreignRole'],
} as const;
export type Thing = (typeof THINGS)[keyof typeof THINGS][number];

export type World = {
  readonly credentials: Readonly<Record<CredentialName, Credential>>;
  readonly idOf: (thing: Thing) => string;
  /** Creates everything anew that earlier requests may have revoked. */
  readonly renew: () => Promise<void>;
  /** Makes anew what an answer says is gone, and keeps the lists short that answers fill. */
  readonly goOn: (operationId: string, named: readonly Thing[], answer: Answer) => Promise<void>;
};

/** The lists stay as long as people's lists are. */
const KEPT = 20;

/** An account with a team and one of everything, beside strangers who have the same. */
export async function createWorld(api: Api): Promise<World> {
  const [owner, guest, outsider, former, teamless] = await Promise.all([1, 2, 3, 4, 5].map(() => api.anAccount()));
  if (!owner || !guest || !outsider || !former || !teamless) throw new Error('There are five.');
  const [team, guestTeam, foreignTeam] = [
    await api.aTeam({ owner, name: 'Own' }),
    await api.aTeam({ owner: outsider, name: 'As a guest' }),
    await api.aTeam({ owner: outsider, name: 'Foreign' }),
  ];
  const formerTeam = await api.aTeam({ owner: outsider, name: 'Former' });
  for (const { id } of [team, guestTeam, foreignTeam]) await api.aSubscription({ id }, { seats: 100_000 });
  await Promise.all([
    api.aMember(guestTeam, owner, { role: 'guest' }),
    api.aMember(formerTeam, owner, { role: 'member', active: false }),
    api.aMember(team, guest, { role: 'guest' }),
    api.aMember(team, former, { role: 'member', expiresAt: new Date(Date.now() - 1000) }),
  ]);

  const forTeams = SCOPES.filter((scope) => !isAccountOnly(scope));
  const reading = SCOPES.filter((scope) => scope.endsWith(':read'));
  const writing = SCOPES.filter((scope) => scope.endsWith(':write'));
  const past = new Date(Date.now() - 1000);
  const secretOf = async (made: Promise<{ secret: string }>) => (await made).secret;
  const good = (secret: string, scopes: readonly Scope[], audience: 'personal' | 'team' = 'personal') => ({
    secret,
    scopes,
    audience,
  });
  const bad = (secret: string | null) => ({ secret, scopes: null, audience: 'personal' as const });
  const all = { scopes: SCOPES };
  const ownerSecret = await secretOf(api.anApiKey(owner, all));

  const ids = {
    team: team.id,
    guestTeam: guestTeam.id,
    formerTeam: formerTeam.id,
    foreignTeam: foreignTeam.id,
    newTeam: 'team_none',
    owner: owner.id,
    outsider: outsider.id,
    teamless: teamless.id,
    foreignSession: (await api.aSession(outsider)).id,
    foreignInvitation: (await api.anInvitation(foreignTeam)).id,
    acceptedInvitation: (await api.anInvitation(team, { acceptedAt: past })).id,
    newInvitation: 'invt_none',
    foreignKey: (await api.anApiKey(outsider, all)).id,
    revokedKey: (await api.anApiKey(owner, { revoked: true })).id,
    newKey: 'key_none',
    role: (await api.aRole(team, ['access_dashboard', 'invite_members'])).id,
    foreignRole: (await api.aRole(foreignTeam, [])).id,
  };
  const makers = {
    member: async () => {
      const account = await api.anAccount();
      await api.aMember(team, account, { role: 'member' });
      return account.id;
    },
    session: async () => (await api.aSession(owner)).id,
    invitation: async () => (await api.anInvitation(team)).id,
    teamsKey: async () => (await api.anApiKey(owner, { team, scopes: forTeams })).id,
    key: async () => {
      const made = await api.anApiKey(owner, all);
      fading.secret = made.secret;
      return made.id;
    },
  };
  const fading = { ...good('', SCOPES), isFading: true };
  const things: Record<Thing, string> = {
    ...ids,
    member: await makers.member(),
    session: await makers.session(),
    invitation: await makers.invitation(),
    teamsKey: await makers.teamsKey(),
    key: await makers.key(),
  };
  const isMade = (thing: Thing): thing is keyof typeof makers => thing in makers;

  const credentials: Record<CredentialName, Credential> = {
    owner: good(ownerSecret, SCOPES),
    ownerToken: good(await secretOf(api.aGrant(owner, all)), SCOPES),
    teamKey: good(await secretOf(api.anApiKey(owner, { team, scopes: forTeams })), forTeams, 'team'),
    teamToken: good(await secretOf(api.aGrant(owner, { team, scopes: SCOPES })), forTeams, 'team'),
    reader: good(await secretOf(api.anApiKey(owner, { scopes: reading })), reading),
    writer: good(await secretOf(api.anApiKey(owner, { scopes: writing })), writing),
    narrowToken: good(
      await secretOf(api.aGrant(owner, { scopes: ['teams:read', 'profile:write'], tokenScopes: SCOPES })),
      ['teams:read', 'profile:write'],
    ),
    guest: good(await secretOf(api.anApiKey(guest, all)), SCOPES),
    outsider: good(await secretOf(api.anApiKey(outsider, all)), SCOPES),
    former: good(await secretOf(api.anApiKey(former, all)), SCOPES),
    fading,
    none: bad(null),
    revoked: bad(await secretOf(api.anApiKey(owner, { ...all, revoked: true }))),
    expired: bad(await secretOf(api.anApiKey(owner, { ...all, expiresAt: past }))),
    session: bad(api.services.tokens.generate('session').secret),
    mistyped: bad(`${ownerSecret.slice(0, -1)}${ownerSecret.endsWith('0') ? '1' : '0'}`),
    invented: bad(api.services.tokens.generate('personalKey').secret),
  };

  const renew = async () => {
    for (const thing of Object.keys(things) as Thing[]) if (isMade(thing)) things[thing] = await makers[thing](); // Object.keys widens them
  };

  let answers = 0;
  return {
    renew,
    credentials,
    idOf: (thing) => things[thing],
    async goOn(operationId, named, { status, body }) {
      if (++answers % 500 === 0) {
        await keepShort(api, owner.id, team.id);
        things.invitation = await makers.invitation();
      }
      if (status >= 300) return;
      if (operationId === 'createTeam') things.newTeam = body.id as string;
      if (operationId === 'createApiKey') things.newKey = body.key.id as string;
      if (operationId === 'createTeamInvitation') things.newInvitation = await latestInvitation(api, team.id);
      if (!/^(?:revoke|remove|updateApiKey)/.test(operationId)) return;
      for (const thing of named) if (isMade(thing)) things[thing] = await makers[thing]();
    },
  };
}

async function latestInvitation(api: Api, teamId: string): Promise<string> {
  const [row] = await api.rows<{ id: string }>(
    'select id from invitation where team_id = $1 order by created_at desc, id desc limit 1',
    [teamId],
  );
  return row?.id ?? 'invt_none';
}

/** Without the oldest of what requests have made; teams vanish with all that is in them. */
async function keepShort(api: Api, ownerId: string, teamId: string): Promise<void> {
  await api.rows(
    `delete from team where name not in ('Own', 'As a guest', 'Foreign', 'Former') and id <> $2 and id in (
       select team_id from membership where account_id = $1 order by joined_at desc offset $3)`,
    [ownerId, teamId, KEPT],
  );
  await api.rows(
    `update api_key set revoked_at = now() where name <> 'A key' and revoked_at is null and id in (
       select id from api_key where name <> 'A key' and revoked_at is null order by created_at desc offset $1)`,
    [KEPT],
  );
  await api.rows(
    `delete from invitation where team_id = $1 and id in (
       select id from invitation where team_id = $1 and accepted_at is null order by created_at desc offset $2)`,
    [teamId, KEPT],
  );
}
