/**
 * The maximum difference between the time of a DPoP proof and the clock of this server, at all endpoints. oidc-provider
 * has the same one, which cannot be set.
 */
export const PROOF_SKEW_SECONDS = 300;

/** A proof that is 300 s ahead is valid for 600 s. The rest allows for clock differences of replicas. */
export const PROOF_MEMORY_SECONDS = 2 * PROOF_SKEW_SECONDS + 60;
