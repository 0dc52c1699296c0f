import { describeCredential, type DescribedCredential } from '../../auth/describe-credential.ts';
import type { Services } from '../../app-services.ts';
import { isStorable } from '../../procedures/fields.ts';
import type { CredentialUse } from '../../procedures/context.ts';
import type { Verification, VerifyInput } from './credentials.schema.ts';

type Found = Promise<DescribedCredential | undefined>;

/** Looks a credential up before the operator key is known to be valid, so that both statements share a round trip. */
export function startLookup(services: Services, raw: unknown): Found | undefined {
  const { credential, teamId, kinds } = raw as Readonly<Record<string, unknown>>; // a body, which is an object
  const isReadable = typeof credential === 'string' && (teamId === undefined || isShortText(teamId));
  if (!isReadable || (kinds !== undefined && !Array.isArray(kinds))) return undefined;
  return findCredential(services, { credential, teamId, kinds: kinds ?? ['api-key', 'oauth-grant'] });
}

const isShortText = (value: unknown): value is string =>
  typeof value === 'string' && value.length <= 2 * 255 && isStorable(value);

export const findCredential = (
  { db, tokens }: Services,
  { credential, kinds, teamId }: Pick<VerifyInput, 'credential' | 'kinds' | 'teamId'>,
): Found => describeCredential(db, tokens, credential, { kinds, teamId: teamId ?? null });

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
  found: DescribedCredential | undefined,
  input: VerifyInput,
  use: CredentialUse,
): Promise<Verification> {
  if (found === undefined) return INVALID;
  const { principal, membership, account } = found;
  if (input.resource !== undefined && found.resource !== null && found.resource !== input.resource) return INVALID;
  use.note(found);
  const decision = input.charge ? await use.charge(principal.credentialId) : null;
  const code = decision?.allowed === false ? 'rate_limited' : findLack(found, input);
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
    team: membership && { id: membership.team.id, name: membership.team.name, slug: membership.team.slug },
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
  { principal, membership }: DescribedCredential,
  { scopes, teamId, permission }: VerifyInput,
): Verification['code'] {
  if (!scopes.every((scope) => principal.scopes.includes(scope))) return 'scope_missing';
  if (membership === null) return teamId !== undefined || permission !== undefined ? 'team_not_found' : null;
  return permission === undefined || membership.permissions.includes(permission) ? null : 'permission_missing';
}
