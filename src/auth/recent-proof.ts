import type { Principal } from './principal.ts';
import { query, type QueryRunner } from '../db/query.ts';
import { ProblemError } from '../errors.ts';

/** How long a sign-in or another proof counts as recent. */
export const PROOF_MINUTES = 10;

type Row = { proven_until: string | null; has_password: boolean; has_passkey: boolean };

const findProof = query<Row>(
  'session_proof',
  `select case when s.proven_at > now() - interval '${PROOF_MINUTES} minutes'
            then s.proven_at + interval '${PROOF_MINUTES} minutes' end as proven_until,
     a.password_hash is not null as has_password,
     exists (select from passkey p where p.account_id = a.id) as has_passkey
   from session s join account a on a.id = s.account_id
   where s.id = $1 and s.revoked_at is null`,
);

/** Returns until when the last proof of a session is valid, or null, and the methods by which the user can renew it. */
export async function readProof(db: QueryRunner, { credentialId }: Principal) {
  const [row] = await db.query(findProof, [credentialId]);
  if (row === undefined) throw new ProblemError('credential_invalid');
  return {
    provenUntil: row.proven_until === null ? null : new Date(row.proven_until),
    hasPassword: row.has_password,
    hasPasskey: row.has_passkey,
  };
}

/**
 * Requires that the user signed in or proved who they are in this session recently, so that a session
 * cookie alone is not enough to take over an account. API keys and grants have no such proof and need none.
 * @throws proof_required
 */
export async function requireRecentProof(db: QueryRunner, principal: Principal): Promise<void> {
  if (principal.kind !== 'session') return;
  const { provenUntil } = await readProof(db, principal);
  if (provenUntil === null) throw new ProblemError('proof_required');
}
