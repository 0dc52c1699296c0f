import { findMembershipOf, prepareLookup, type DescribedCredential } from '../../auth/describe-credential.ts';
import type { Services } from '../../app-services.ts';
import { leastInvalidTime } from '../../crypto/minimum-duration.ts';
import { isStorable } from '../../procedures/fields.ts';
import { EXTERNAL_ID_PREFIX } from '../../entities/index.ts';
import type { CredentialUse, Prefetch } from '../../procedures/context.ts';
import { DEFAULT_KINDS, type Verification, type VerifyInput } from './credentials.schema.ts';

/** What a look-up has found, and the end of the least time of an answer that it is invalid. */
export type Looked = { readonly found: DescribedCredential | undefined; readonly elapsed: Promise<void> };

/** Prepares the look-up that an unvalidated body asks for, so that one statement finds it with the operator key. */
export function prefetchCredential({ tokens }: Services, raw: unknown): Prefetch | undefined {
  const { credential, teamId, kinds = DEFAULT_KINDS } = raw as Readonly<Record<string, unknown>>; // a body, which is an object
  const isReadable = typeof credential === 'string' && (teamId === undefined || isShortText(teamId));
  if (!isReadable || !Array.isArray(kinds)) return undefined;
  const lookup = prepareLookup(tokens, credential, { kinds, teamId: teamId ?? null });
  if (lookup === undefined) return undefined;
  let found: DescribedCredential | undefined;
  const elapsed = leastInvalidTime();
  return {
    async findKey(db, hash) {
      const { operatorKey, credential } = await lookup.runWithOperatorKey(db, hash);
      found = credential;
      return operatorKey;
    },
    found: (): Looked => ({ found, elapsed }),
  };
}

const isShortText = (value: unknown): value is string =>
  typeof value === 'string' && value.length <= 2 * (EXTERNAL_ID_PREFIX.length + 255) && isStorable(value);

/** Finds a credential without `prefetchCredential`, which REST calls. */
export async function findCredential(
  { db, tokens }: Services,
  { credential, kinds, teamId }: Pick<VerifyInput, 'credential' | 'kinds' | 'teamId'>,
): Promise<Looked> {
  const elapsed = leastInvalidTime();
  const found = await prepareLookup(tokens, credential, { kinds, teamId: teamId ?? null })?.run(db);
  return { found, elapsed };
}

const INVALID: Verification = {
  valid: false,
  code: 'credential_invalid',
  credential: null,
  account: null,
  team: null,
  role: null,
  permissions: [],
  rate: null,
};

/** Checks a credential in the order of the API: credential, rate limit, scopes, team, permission. */
export async function verify(
  { db }: Pick<Services, 'db'>,
  { found, elapsed }: Looked,
  input: VerifyInput,
  use: CredentialUse,
): Promise<Verification> {
  const { resource } = input;
  const isForOther = resource !== undefined && found?.resource !== null && found?.resource !== resource;
  if (found === undefined || isForOther) {
    await elapsed;
    return INVALID;
  }
  const { principal, account } = found;
  use.note(found);
  const membership = await findMembershipOf(db, found);
  const decision = input.charge ? await use.charge(principal.credentialId) : null;
  const code = decision?.allowed === false ? 'rate_limited' : findLack(principal, membership, input);
  return {
    valid: code === null,
    code,
    credential: {
      id: principal.credentialId,
      kind: principal.kind,
      audience: principal.teamId === null ? 'personal' : 'team',
      teamId: principal.teamId,
      scopes: [...principal.scopes],
      expiresAt: found.expiresAt,
      grantId: found.grantId,
      clientId: found.clientId,
      resource: found.resource,
      thumbprint: found.token?.thumbprint ?? null,
    },
    account,
    team: membership?.team ?? null,
    role: membership?.role ?? null,
    permissions: [...(membership?.permissions ?? [])],
    rate: decision && {
      limit: decision.limit,
      remaining: decision.remaining,
      resetSeconds: decision.resetSeconds,
    },
  };
}

function findLack(
  principal: DescribedCredential['principal'],
  membership: Awaited<ReturnType<typeof findMembershipOf>>,
  { scopes, teamId, permission }: VerifyInput,
): Verification['code'] {
  if (!scopes.every((scope) => principal.scopes.includes(scope))) return 'scope_missing';
  if (membership === null) return teamId !== undefined || permission !== undefined ? 'team_not_found' : null;
  return permission === undefined || membership.permissions.includes(permission) ? null : 'permission_missing';
}
