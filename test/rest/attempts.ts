import { expect } from 'vitest';
import type { Api } from '../support/api.ts';
import type { Answer, Sent } from '../support/client.ts';
import { KINDS, type CredentialOptions, type Kind } from './kinds.ts';
import { ACCOUNT_ONLY_SCOPES, ALL_PERMISSIONS, ALL_SCOPES, type Operation } from './operations.ts';

const METADATA = 'resource_metadata="http://localhost:3000/.well-known/oauth-protected-resource/api/v1"';
export const MISSING = `401 credential_missing, Bearer ${METADATA}`;
export const INVALID = `401 credential_invalid, Bearer error="invalid_token", ${METADATA}`;
export const lacks = (scope: string) =>
  `403 scope_missing, Bearer error="insufficient_scope", scope="${scope}", ${METADATA}`;
export const WRONG_AUDIENCE = '403 team_credential_refused';
export const NO_PERMISSION = '403 permission_missing';
export const NO_TEAM = '404 team_not_found';
export const TOO_LONG = 'x'.repeat(256);
export const tooLongIds = {
  teamId: TOO_LONG,
  userId: TOO_LONG,
  sessionId: TOO_LONG,
  keyId: TOO_LONG,
  invitationId: TOO_LONG,
};

type Permission = (typeof ALL_PERMISSIONS)[number];
export type Standing = 'stranger' | 'inactive' | 'expired' | 'guest' | 'member' | 'owner' | readonly Permission[];
export type World = {
  readonly caller: { readonly id: string };
  readonly team: { readonly id: string };
  readonly ids: Readonly<Record<string, string>>;
};
type MakeSecret = (api: Api, world: World, kind: Kind) => Promise<string>;

/** A call, described by what is different from the owner's, whose credential is for the account and holds every scope. */
export type Attempt = {
  readonly standing?: Standing;
  readonly ids?: Readonly<Record<string, string>>;
  /** Made of every kind: the attempt is one call for each. */
  readonly credential?: MakeSecret;
  /** In its place, a bearer string of no kind in particular: the attempt is one call. */
  readonly bearer?: (api: Api, world: World) => Promise<string>;
  readonly change?: (sent: Sent, secret: string) => Sent;
};
/** What becomes of an attempt: with every kind, or with each. */
type Outcome = string | Readonly<Record<Kind['name'], string>>;
export type Expectations = Readonly<Record<string, readonly [outcome: Outcome, attempt: Attempt]>>;

const TEAM_SCOPES = ALL_SCOPES.filter((scope) => !ACCOUNT_ONLY_SCOPES.some((only) => only === scope));
export const A_MINUTE_AGO = new Date(Date.now() - 60_000);

export const allBut = <T>(all: readonly T[], one: T | null) => all.filter((entry) => entry !== one);

/** A team with one of everything in it, and an account whose standing in the team is the case. */
export async function aWorld(api: Api, standing: Standing): Promise<World> {
  const caller = await api.anAccount();
  const team = await api.aTeam({ owner: standing === 'owner' ? caller : await api.anAccount() });
  const target = await api.anAccount();
  const [session, key, invitation] = await Promise.all([
    api.aSession(caller),
    api.anApiKey(caller),
    api.anInvitation(team),
    api.aMember(team, target),
    join(api, team, caller, standing),
  ]);
  return {
    caller,
    team,
    ids: { teamId: team.id, userId: target.id, sessionId: session.id, keyId: key.id, invitationId: invitation.id },
  };
}

async function join(api: Api, team: { id: string }, caller: { id: string }, standing: Standing): Promise<void> {
  if (standing === 'owner' || standing === 'stranger') return;
  // Whoever is inactive or expired would hold every permission.
  const permissions = typeof standing === 'string' ? ALL_PERMISSIONS : standing;
  const role = standing === 'guest' || standing === 'member' ? standing : (await api.aRole(team, permissions)).id;
  const expiresAt = standing === 'expired' ? A_MINUTE_AGO : null;
  await api.aMember(team, caller, { role, active: standing !== 'inactive', expiresAt });
}

export async function prepare(
  api: Api,
  operation: Operation,
  attempt: Attempt,
  world: World,
  kind: Kind,
): Promise<Sent> {
  const { ids, credential = everyScope, bearer = credential, change } = attempt;
  const fill = (text: string) =>
    text.replaceAll(/\{(\w+)\}/g, (_, name: string) => ids?.[name] ?? world.ids[name] ?? name);
  const secret = await bearer(api, world, kind);
  const sent = { method: operation.method, path: fill(operation.path), headers: { authorization: `Bearer ${secret}` } };
  const whole = operation.body === undefined ? sent : withBody(sent, fill(JSON.stringify(operation.body)));
  return change?.(whole, secret) ?? whole;
}

export const withBody = (sent: Sent, body: string, type = 'application/json'): Sent => ({
  ...sent,
  headers: { ...sent.headers, 'content-type': type },
  body,
});

const holding =
  (scopes: CredentialOptions['scopes']): MakeSecret =>
  async (api, { caller }, kind) =>
    (await kind.make(api, caller, { scopes })).secret;

export const everyScope: MakeSecret = holding(ALL_SCOPES);

export const without = (scope: (typeof ALL_SCOPES)[number] | null): MakeSecret => holding(allBut(ALL_SCOPES, scope));

export const forTheTeam =
  (scopes: CredentialOptions['scopes'] = TEAM_SCOPES): MakeSecret =>
  async (api, { caller, team }, kind) =>
    (await kind.make(api, caller, { scopes, team })).secret;

export const forAnotherTeam: MakeSecret = async (api, { caller }, kind) => {
  const team = await api.aTeam({ owner: caller });
  return (await kind.make(api, caller, { scopes: TEAM_SCOPES, team })).secret;
};

/** The calls that the attempts stand for, one for each kind of credential. */
const callsOf = (expectations: Expectations) =>
  Object.entries(expectations).flatMap(([name, [outcome, attempt]]) =>
    (attempt.bearer === undefined ? KINDS : KINDS.slice(0, 1)).map((kind) => ({
      name: attempt.bearer === undefined ? `${name} (${kind.name})` : name,
      outcome: typeof outcome === 'string' ? outcome : outcome[kind.name],
      attempt,
      kind,
    })),
  );

/**
 * Makes all the calls at once and expects what became of each.
 * @param isWriting each call then gets a world of its own; otherwise those of one standing share theirs
 */
async function callAll(api: Api, operation: Operation, expectations: Expectations, isWriting: boolean) {
  const calls = callsOf(expectations);
  const shared = new Map<string, Promise<World>>();
  const worldOf = async ({ standing = 'owner' }: Attempt) => {
    if (isWriting) return aWorld(api, standing);
    const world = shared.get(String(standing)) ?? aWorld(api, standing);
    shared.set(String(standing), world);
    return world;
  };
  const requests = await Promise.all(
    calls.map(async ({ attempt, kind }) => prepare(api, operation, attempt, await worldOf(attempt), kind)),
  );
  const before = await fingerprint(api);
  const answers = await Promise.all(requests.map((sent) => api.anonymous.send(sent)));
  expect(Object.fromEntries(calls.map(({ name }, i) => [name, outcomeOf(answers[i])]))).toEqual(
    Object.fromEntries(calls.map(({ name, outcome }) => [name, outcome])),
  );
  return { answers, before, after: await fingerprint(api) };
}

export async function expectRefusals(api: Api, operation: Operation, expectations: Expectations): Promise<Answer[]> {
  const { answers, before, after } = await callAll(api, operation, expectations, false);
  expect(after).toEqual(before);
  return answers;
}

export async function expectSuccesses(
  api: Api,
  operation: Operation,
  attempts: Readonly<Record<string, Attempt>>,
): Promise<void> {
  const outcome = String(operation.status);
  const expectations = Object.entries(attempts).map(([name, attempt]) => [name, [outcome, attempt] as const] as const);
  const isWriting = operation.method !== 'GET';
  const { before, after } = await callAll(api, operation, Object.fromEntries(expectations), isWriting);
  // The writes here prove that the silence of the denied calls means something.
  if (isWriting) expect(after).not.toEqual(before);
  else expect(after).toEqual(before);
}

function outcomeOf(answer: Answer | undefined): string {
  const { status = 0, headers = {}, body } = answer ?? {};
  const challenge = headers['www-authenticate'];
  return [status < 400 ? status : `${status} ${body.code}`, ...(challenge === undefined ? [] : [challenge])].join(', ');
}

/** Every table with a checksum of its rows, except for the use of credentials, which is written later. */
async function fingerprint(api: Api): Promise<unknown> {
  const tables = await api.rows<{ name: string; columns: string }>(
    `select attrelid::regclass::text as name, string_agg(quote_ident(attname), ', ' order by attnum) as columns
     from pg_attribute join pg_class c on c.oid = attrelid
     where (relkind = 'r' and relnamespace = 'public'::regnamespace or c.oid = 'graphile_worker.jobs'::regclass)
       and attnum > 0 and not attisdropped and attname <> 'last_used_at'
       and c.oid <> 'api_key_use'::regclass
     group by attrelid order by name`,
  );
  const sums = tables.map(
    ({ name, columns }) =>
      `select '${name}' as name, count(*), sum(hashtextextended(row(${columns})::text, 0)) from ${name}`,
  );
  return api.rows(sums.join(' union all '));
}

/** An answer without what is about the request alone. */
function comparable({ status, headers, body }: Answer) {
  const own = ['x-request-id', 'ratelimit-limit', 'ratelimit-remaining', 'ratelimit-reset', 'ratelimit', 'date'];
  return {
    status,
    headers: Object.fromEntries(Object.entries(headers).filter(([name]) => !own.includes(name))),
    body: { ...body, requestId: undefined },
  };
}

export function expectAlike(answers: readonly Answer[]): void {
  const [first, ...others] = answers.map(comparable);
  for (const other of others) expect(other).toEqual(first);
}
