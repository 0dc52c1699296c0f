/**
 * The advisory locks of this service, each with its own number. Locks per key (`email`, `slug`, `signUp`) use the
 * form with two numbers, the second one a hash of the key, which never conflicts with the form with one number.
 * `transactions/locks.ts` has the row locks.
 */
export const ADVISORY_LOCKS = {
  /** Serializes migrations. "RSTR" in ASCII. */
  migration: 0x52535452,
  /** Serializes workers that append to the chain of the audit log or prune it. "AUDI" in ASCII. */
  auditChain: 0x41554449,
  /** Keeps what events show of an account from being written while it is erased. "EVTP" in ASCII. */
  eventPayloads: 0x45565450,
  /** Serializes the count of emails per email address. "MAIL" in ASCII. */
  email: 0x4d41494c,
  /** Claims a slug until the transaction ends. Only tried, so that nothing waits for it. "SLUG" in ASCII. */
  slug: 0x534c5547,
  /** Serializes operators who delete their own account. "OPER" in ASCII. */
  operator: 0x4f504552,
  /** Lets each operator export one list at a time. "EXPO" in ASCII. */
  operatorExport: 0x4558504f,
  /** Serializes the count of operator keys. "OPKY" in ASCII. */
  operatorKey: 0x4f504b59,
  /** Serializes the count of the operator's OAuth clients. "OPCL" in ASCII. */
  operatorClients: 0x4f50434c,
  /** Serializes changes of the catalogue of permissions, which nobody gives while it changes. "PERM" in ASCII. */
  permissionCatalogue: 0x5045524d,
  /** Serializes changes of role templates. "RTPL" in ASCII. */
  roleTemplates: 0x5254504c,
  /** Serializes the count of sign-ups per email address. "SIGN" in ASCII. */
  signUp: 0x5349474e,
} as const;
