import type { Database } from '../../db/database.ts';
import { findMembershipOf, prepareLookup, type DescribedCredential } from '../../auth/describe-credential.ts';
import { isForSignInOnly, listEffectivePermissions } from '../../auth/permissions.ts';
import type { DescribedMetadata } from '../../auth/described-metadata.ts';
import type { OperatorPrincipal } from '../../auth/principal.ts';
import type { Services } from '../../service/services.ts';
import { untilLeastInvalidTime } from '../../crypto/minimum-duration.ts';
import { isStorable } from '../../procedures/fields.ts';
import { EXTERNAL_ID_PREFIX } from '../../entities/index.ts';
import { ProblemError } from '../../problems/error.ts';
import type { CredentialUse, Prefetch } from '../../procedures/context.ts';
import { DEFAULT_KINDS, type Verification, type VerifyInput } from './credential-verification.schema.ts';

/** What a look-up has found, and `performance.now()` before it. */
export type Looked = { readonly found: DescribedCredential | undefined; readonly startedAt: number };

/** Prepares the look-up that an unvalidated body asks for, so that one statement finds it with the operator key. */
export function prefetchCredential({ tokens }: Services, raw: unknown): Prefetch | undefined {
  const { credential, teamId, kinds = DEFAULT_KINDS, include = [] } = raw as Readonly<Record<string, unknown>>; // a body, which is an object
  const isReadable = typeof credential === 'string' && (teamId === undefined || isShortText(teamId));
  if (!isReadable || !Array.isArray(kinds) || !Array.isArray(include)) return undefined;
  const lookup = prepareLookup(tokens, credential, { kinds, teamId: teamId ?? null, hasMetadata: include.length > 0 });
  if (lookup === undefined) return undefined;
  let found: DescribedCredential | undefined;
  const startedAt = performance.now();
  return {
    async findKey(db, hash) {
      const { operatorKey, credential } = await lookup.runWithOperatorKey(db, hash);
      found = credential;
      return operatorKey;
    },
    found: (): Looked => ({ found, startedAt }),
  };
}

const isShortText = (value: unknown): value is string =>
  typeof value === 'string' && value.length <= 2 * (EXTERNAL_ID_PREFIX.length + 255) && isStorable(value);

/** Finds a credential without `prefetchCredential`, which REST calls. */
export async function lookUpCredential(
  { db, tokens }: Services,
  { credential, kinds, teamId, include }: Pick<VerifyInput, 'credential' | 'kinds' | 'teamId' | 'include'>,
): Promise<Looked> {
  const startedAt = performance.now();
  const asked = { kinds, teamId: teamId ?? null, hasMetadata: include.length > 0 };
  const found = await prepareLookup(tokens, credential, asked)?.run(db);
  return { found, startedAt };
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
  db: Database,
  { found, startedAt }: Looked,
  input: VerifyInput,
  use: CredentialUse,
): Promise<Verification> {
  const { resource } = input;
  const isForOther = resource !== undefined && found?.resource !== null && found?.resource !== resource;
  if (found === undefined || isForOther || isForSignInOnly(found.principal)) {
    await untilLeastInvalidTime(startedAt);
    return INVALID;
  }
  const { principal, account } = found;
  use.note(found);
  const membership = await findMembershipOf(db, found);
  const decision = input.charge ? await use.charge(principal.credentialId) : null;
  const permissions = membership === null ? [] : listEffectivePermissions(membership, principal);
  const missing = membership === null ? [] : askedOf(input).filter((asked) => !permissions.includes(asked));
  const code = decision?.allowed === false ? 'rate_limited' : findLack(principal, membership, input, missing);
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
    permissions,
    ...(membership !== null && askedOf(input).length > 0 && { missing }),
    rate: decision && {
      limit: decision.limit,
      remaining: decision.remaining,
      resetSeconds: decision.resetSeconds,
    },
    ...(found.metadata && { metadata: presentMetadata(found.metadata, input.include) }),
  };
}

/** Requires the scopes of an operator key that read what is included anyway. @throws scope_missing (403) */
export function requireIncluded({ scopes }: OperatorPrincipal, { include }: Pick<VerifyInput, 'include'>): void {
  if (!include.includes('private_metadata')) return;
  const missing = (['accounts:read', 'teams:read'] as const).find((scope) => !scopes.includes(scope));
  if (missing !== undefined)
    throw new ProblemError('scope_missing', `\`private_metadata\` needs the scope \`${missing}\`.`, { scope: missing });
}

function presentMetadata(metadata: DescribedMetadata, include: VerifyInput['include']): Verification['metadata'] {
  const pick = (parts: DescribedMetadata['account']) => ({
    ...(include.includes('public_metadata') && { public: parts.public }),
    ...(include.includes('private_metadata') && { private: parts.private }),
  });
  const { account, team, membership } = metadata;
  return { account: pick(account), team: team && pick(team), membership: membership && pick(membership) };
}

const askedOf = ({ permission, permissions }: VerifyInput): readonly string[] =>
  permission === undefined ? permissions : [permission, ...permissions];

function findLack(
  principal: DescribedCredential['principal'],
  membership: Awaited<ReturnType<typeof findMembershipOf>>,
  input: VerifyInput,
  missing: readonly string[],
): Verification['code'] {
  const { scopes, teamId } = input;
  if (!scopes.every((scope) => principal.scopes.includes(scope))) return 'scope_missing';
  if (membership === null) return teamId !== undefined || askedOf(input).length > 0 ? 'team_not_found' : null;
  return missing.length === 0 ? null : 'permission_missing';
}
