import type { Answer, createClient } from '../support/client.ts';
import type { factoriesOf } from '../support/factories.ts';
import { ALL_SCOPES } from '../rest/operations.ts';
import type { Ledger } from './ledger.ts';

/** Sends a request and notes how it was answered. @returns the answer, where it is the expected one */
export type Call = (
  operation: string,
  send: () => Promise<Answer>,
  expected: (answer: Answer) => boolean,
) => Promise<Answer | undefined>;

type Parts = {
  readonly factories: ReturnType<typeof factoriesOf>;
  readonly client: ReturnType<typeof createClient>;
  readonly call: Call;
  readonly ledger: Ledger;
  readonly lane: number;
};

const answers =
  (...statuses: number[]) =>
  ({ status }: Answer): boolean =>
    statuses.includes(status);

/** What one account does, over and over: reads that have to show its last write, and writes with names of their own. */
export async function lifeOf({ factories, client, call, ledger, lane }: Parts): Promise<(() => Promise<void>)[]> {
  const account = await factories.anAccount();
  const team = await factories.aTeam({ owner: account });
  await factories.aSubscription(team, { seats: 1_000_000 });
  const key = await factories.anApiKey(account, { scopes: ALL_SCOPES });
  const teamKey = await factories.anApiKey(account, { scopes: ['teams:read', 'members:read'], team });
  const grant = await factories.aGrant(account, { scopes: ['teams:read'] });
  const me = client.as(key);
  const teamPath = `/api/v1/teams/${team.id}`;
  const names = ledger.names(team.id, team.name);
  let count = 0;
  const nextName = (what: string) => `${what} ${team.id} ${lane}-${(count += 1)}`;

  const isNamed = ({ status, body }: Answer) => status === 200 && names.mayBe(body.name as string);

  const readTeam = (as: { secret: string }) => async () => {
    await call('getTeam', () => client.as(as).get(teamPath), isNamed);
  };
  const readMembers = async () => {
    const isOwnerAlone = ({ status, body }: Answer) => status === 200 && body.length === 1;
    await call('listTeamMembers', () => client.as(teamKey).get(`${teamPath}/members`), isOwnerAlone);
  };
  const createTeam = async () => {
    const name = nextName('Team');
    ledger.teams.attempted.add(name);
    const made = await call('createTeam', () => me.post('/api/v1/teams', { name }), answers(201));
    if (made !== undefined) ledger.teams.acknowledged.add(name);
  };
  const rename = async () => {
    const name = nextName('Name');
    names.attempt(name);
    const renamed = await call('updateTeam', () => me.patch(teamPath, { name }), answers(200));
    if (renamed !== undefined) names.acknowledge(name);
  };
  const invite = async () => {
    const email = `${team.id.toLowerCase()}-${(count += 1)}@example.com`;
    ledger.invitations.attempted.add(email);
    const send = () => me.post(`${teamPath}/invitations`, { email });
    const invited = await call('createTeamInvitation', send, answers(201));
    if (invited !== undefined) ledger.invitations.acknowledged.add(email);
  };
  const makeAndRevokeKey = async () => {
    const name = nextName('Key');
    ledger.keys.attempted.add(name);
    const send = () => me.post('/api/v1/api-keys', { name, scopes: ['teams:read'] });
    const made = await call('createApiKey', send, answers(201));
    if (made === undefined) return;
    ledger.keys.acknowledged.add(name);
    const { key: made_, secret } = made.body as { key: { id: string }; secret: string };
    const use = () => client.as(secret).get('/api/v1/credential');
    await call('getCredential', use, answers(200));
    const revoked = await call('revokeApiKey', () => me.delete(`/api/v1/api-keys/${made_.id}`), answers(200));
    if (revoked !== undefined) ledger.revokedKeys.add(name);
    await call('getCredential', use, revoked === undefined ? answers(200, 401) : answers(401));
  };

  const round = [
    readTeam(key),
    createTeam,
    readMembers,
    rename,
    readTeam(grant),
    invite,
    readTeam(teamKey),
    makeAndRevokeKey,
  ];
  // Each begins elsewhere, so that at any moment there is some of everything.
  const start = lane % round.length;
  return [...round.slice(start), ...round.slice(0, start)];
}
