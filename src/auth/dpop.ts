import { hash } from 'node:crypto';
import { calculateJwkThumbprint, EmbeddedJWK, jwtVerify, type JWTPayload } from 'jose';
import { ProblemError } from '../errors.ts';
import { unauthenticated, type Authentication } from './authenticate.ts';
import type { Counter } from '../rate-limit/attempts.ts';

/** How a proof may be signed: with a key pair, never with a shared secret. */
export const PROOF_ALGORITHMS: readonly string[] = ['ES256', 'Ed25519', 'EdDSA'];

/** How far the clock of a client may be from ours. */
const SKEW_SECONDS = 60;

/** A request with a token of the DPoP scheme, as its proof has to describe it. */
export type Presented = {
  readonly token: string;
  /** The values of its `DPoP` headers. */
  readonly proofs: readonly string[];
  readonly method: string;
  /** Where it was sent, as the outside names it; a query does not count. */
  readonly url: string;
};

/**
 * Accepts a token that is bound to a key from whoever proves to hold the key (RFC 9449, section 4.3),
 * and no other token, because a proof of a key that it is not bound to protects nothing.
 */
export async function requireProof(
  authentication: Authentication,
  presented: Presented,
  counter: Counter,
): Promise<Authentication> {
  if (authentication.principal === null) return withDpopChallenge(authentication, 'used');
  const thumbprint = authentication.token?.thumbprint;
  if (!thumbprint) return unauthenticated(new ProblemError('credential_invalid', undefined, { dpop: 'used' }));
  const jti = await provenBy(presented, thumbprint);
  return jti !== undefined && (await isFirstUse(counter, thumbprint, jti))
    ? authentication
    : unauthenticated(new ProblemError('credential_invalid', undefined, { dpop: 'proof_refused' }));
}

/** The same refusal, whose challenge tells of DPoP too. */
export const withDpopChallenge = (
  authentication: Authentication,
  dpop: NonNullable<ProblemError['extras']['dpop']>,
): Authentication =>
  authentication.principal === null
    ? {
        ...authentication,
        refusal: new ProblemError(authentication.refusal.problem, authentication.refusal.message, {
          ...authentication.refusal.extras,
          dpop,
        }),
      }
    : authentication;

/** The id of the proof, where it is one for this request by the key of the thumbprint. */
async function provenBy({ token, proofs, method, url }: Presented, thumbprint: string): Promise<string | undefined> {
  const [proof, ...others] = proofs;
  if (proof === undefined || others.length > 0) return undefined;
  const verified = await verify(proof).catch(() => undefined);
  if (verified === undefined) return undefined;

  const { htm, htu, iat, ath, jti } = verified.claims;
  const isForThis =
    verified.thumbprint === thumbprint &&
    htm === method &&
    typeof htu === 'string' &&
    isSameResource(htu, url) &&
    typeof iat === 'number' &&
    Math.abs(Date.now() / 1000 - iat) <= SKEW_SECONDS &&
    ath === hash('sha256', token, 'base64url');
  return isForThis && typeof jti === 'string' && jti !== '' ? jti : undefined;
}

/** What the proof says, and whose key signed it; rejects where no key that it carries did. */
async function verify(proof: string): Promise<{ claims: JWTPayload; thumbprint: string }> {
  const { payload, protectedHeader } = await jwtVerify(proof, EmbeddedJWK, {
    typ: 'dpop+jwt',
    algorithms: [...PROOF_ALGORITHMS],
  });
  return { claims: payload, thumbprint: await calculateJwkThumbprint(protectedHeader.jwk ?? {}) };
}

/**
 * Counts the proof: once alone, on all replicas together, for longer than its time lets it pass.
 * By its key as well, so that no client can use up the ids of another.
 */
async function isFirstUse(counter: Counter, thumbprint: string, jti: string): Promise<boolean> {
  const { allowed } = await counter.consume(`dpop:${hash('sha256', `${thumbprint}.${jti}`)}`);
  return allowed;
}

/** Whether two URLs differ in nothing but their spelling (RFC 3986, section 6.2.2), query and fragment. */
function isSameResource(one: string, other: string): boolean {
  const spelling = normalized(one);
  return spelling !== undefined && spelling === normalized(other);
}

function normalized(text: string): string | undefined {
  const url = URL.parse(text);
  if (url === null) return undefined;
  url.search = '';
  url.hash = '';
  return url.href.replaceAll(/%[0-9a-f]{2}/gi, (code) => {
    const character = String.fromCharCode(Number.parseInt(code.slice(1), 16));
    return /[\w.~-]/.test(character) ? character : code.toUpperCase();
  });
}
