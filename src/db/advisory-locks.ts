/**
 * The advisory locks of this service: a number each, so that no two purposes share one. The ones that are taken per
 * key (`email`, `slug`, `signUp`) use the form of PostgreSQL with two numbers, the second one a hash of the key; so they never
 * meet those that are taken as a whole. This is the lowest room that needs them; `transactions/locks.ts` has the locks
 * of rows.
 */
export const ADVISORY_LOCKS = {
  /** One process at a time migrates. "RSTR" in ASCII. */
  migration: 0x52535452,
  /** One worker at a time adds to the chain of the audit log or prunes it. "AUDI" in ASCII. */
  auditChain: 0x41554449,
  /** The emails to one address are counted one after the other. "MAIL" in ASCII. */
  email: 0x4d41494c,
  /** Slugs with one stem are chosen one after the other. "SLUG" in ASCII. */
  slug: 0x534c5547,
  /** Sign-ups of one email address are counted one after the other. "SIGN" in ASCII. */
  signUp: 0x5349474e,
} as const;
