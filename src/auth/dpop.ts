import { hash } from 'node:crypto';
import { calculateJwkThumbprint, EmbeddedJWK, jwtVerify, type JWTPayload } from 'jose';
import { ProblemError } from '../problems/error.ts';
import { SECOND_MS } from '../time.ts';
import { unauthenticated, type Authentication } from './authenticate.ts';
import type { Counter } from '../rate-limit/attempts.ts';
import { PROOF_SKEW_SECONDS } from '../rate-limit/dpop-times.ts';

/** The accepted signature algorithms of a proof: only asymmetric ones. */
export const PROOF_ALGORITHMS: readonly string[] = ['ES256', 'Ed25519', 'EdDSA'];

/** A request with the authentication scheme DPoP, which its proof has to match. */
export type Presented = {
  readonly token: string;
  /** The values of its `DPoP` headers. */
  readonly proofs: readonly string[];
  readonly method: string;
  /** The public URL of the request. Its query is ignored. */
  readonly url: string;
};

/**
 * Requires a valid proof of possession of the key that the token is bound to (RFC 9449, section 4.3). Tokens that are
 * not bound to a key are rejected, because a proof does not protect them.
 * @returns the authentication, or an unauthenticated one with the error `credential_invalid`
 */
export async function requireProof(
  authentication: Authentication,
  presented: Presented,
  counter: Counter,
): Promise<Authentication> {
  if (authentication.principal === null) return withDpopChallenge(authentication, 'used');
  const thumbprint = authentication.token?.thumbprint;
  if (!thumbprint) return unauthenticated(new ProblemError('credential_invalid', undefined, { dpop: 'used' }));
  const proof = await verifyProof(presented, thumbprint);
  if (proof !== undefined && !isRecent(proof.iat)) return rejectProof(CLOCK_DETAIL);
  return proof !== undefined && (await isFirstUse(counter, thumbprint, proof.jti)) ? authentication : rejectProof();
}

export const CLOCK_DETAIL = `The time of the DPoP proof (iat) and the clock of this server differ by more than ${PROOF_SKEW_SECONDS} seconds. Check the clock of the client.`;

/** Compares whole seconds, as oidc-provider does. */
const isRecent = (iat: number): boolean => Math.abs(Math.floor(Date.now() / SECOND_MS) - iat) <= PROOF_SKEW_SECONDS;

const rejectProof = (detail?: string): Authentication =>
  unauthenticated(new ProblemError('credential_invalid', detail, { dpop: 'proof_rejected' }));

/** Adds a DPoP challenge to the error of an unauthenticated result. */
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

/** Verifies the proof of a request, except its age. @returns undefined if it is not valid for this request and key */
async function verifyProof(
  { token, proofs, method, url }: Presented,
  thumbprint: string,
): Promise<{ jti: string; iat: number } | undefined> {
  const [proof, ...others] = proofs;
  if (proof === undefined || others.length > 0) return undefined;
  const verified = await verifySignature(proof).catch(() => undefined);
  if (verified === undefined) return undefined;

  const { htm, htu, iat, ath, jti } = verified.claims;
  const isForThis =
    verified.thumbprint === thumbprint &&
    htm === method &&
    typeof htu === 'string' &&
    isSameResource(htu, url) &&
    ath === hash('sha256', token, 'base64url');
  return isForThis && typeof iat === 'number' && typeof jti === 'string' && jti !== '' ? { jti, iat } : undefined;
}

/** Verifies the signature of a proof with the key that it contains. @returns its claims and the key's thumbprint */
async function verifySignature(proof: string): Promise<{ claims: JWTPayload; thumbprint: string }> {
  const { payload, protectedHeader } = await jwtVerify(proof, EmbeddedJWK, {
    typ: 'dpop+jwt',
    algorithms: [...PROOF_ALGORITHMS],
  });
  return { claims: payload, thumbprint: await calculateJwkThumbprint(protectedHeader.jwk ?? {}) };
}

/**
 * Counts the use of a proof across all replicas, for longer than the proof is valid. The counter includes the key, so
 * that a client cannot use the `jti` of another client first.
 */
async function isFirstUse(counter: Counter, thumbprint: string, jti: string): Promise<boolean> {
  const { allowed } = await counter.consume(`dpop:${hash('sha256', `${thumbprint}.${jti}`)}`);
  return allowed;
}

/** Returns whether two URLs are equal after normalization (RFC 3986, section 6.2.2), without query and fragment. */
function isSameResource(one: string, other: string): boolean {
  const normalized = normalizeUrl(one);
  return normalized !== undefined && normalized === normalizeUrl(other);
}

function normalizeUrl(text: string): string | undefined {
  const url = URL.parse(text);
  if (url === null) return undefined;
  url.search = '';
  url.hash = '';
  return url.href.replaceAll(/%[0-9a-f]{2}/gi, (code) => {
    const character = String.fromCharCode(Number.parseInt(code.slice(1), 16));
    return /[\w.~-]/.test(character) ? character : code.toUpperCase();
  });
}
