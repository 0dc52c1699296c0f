import type { Principal } from './principal.ts';
import { query, type QueryRunner } from '../db/query.ts';
import { ProblemError } from '../problems/error.ts';
import { lastProofOf } from './session-proofs.ts';

/** How long a sign-in or another proof counts as recent. */
export const PROOF_MINUTES = 10;

type Row = { proven_until: string | null; email: string | null; has_password: boolean; has_passkey: boolean };

const findProof = query<Row>(
  'session_find_proof',
  `select case when proof.at > now() - interval '${PROOF_MINUTES} minutes'
            then proof.at + interval '${PROOF_MINUTES} minutes' end as proven_until,
     a.email, a.password_hash is not null as has_password,
     exists (select from passkey p where p.account_id = a.id) as has_passkey
   from session s join account a on a.id = s.account_id
   cross join lateral (select ${lastProofOf('s')} as at) proof
   where s.id = $1 and s.revoked_at is null`,
);

/** Returns until when the last proof of a session is valid, or null, and the methods by which its user can renew it. */
export async function readProof(db: QueryRunner, { credentialId }: Pick<Principal, 'credentialId'>) {
  const [row] = await db.query(findProof, [credentialId]);
  if (row === undefined) throw new ProblemError('credential_invalid');
  return {
    provenUntil: row.proven_until === null ? null : new Date(row.proven_until),
    email: row.email,
    hasPassword: row.has_password,
    hasPasskey: row.has_passkey,
  };
}

const findTokenProof = query<{ is_recent: boolean | null }>(
  'oauth_token_family_check_proof',
  `select (select max(proof.value::timestamptz) from jsonb_each_text(f.proofs) proof)
     > now() - interval '${PROOF_MINUTES} minutes' as is_recent
   from oauth_token_family f where f.id = $1`,
);

type Prover = Pick<Principal, 'kind' | 'credentialId' | 'tokenFamilyId' | 'sessionId'>;

/**
 * Returns whether the user signed in or proved who they are in this session recently. For a first-party token that is the
 * proof of its authorization, which nothing renews. API keys and other tokens have no such proof.
 */
export async function hasRecentProof(db: QueryRunner, caller: Prover): Promise<boolean> {
  if (caller.sessionId) {
    const [row] = await db.query(findTokenProof, [caller.tokenFamilyId]);
    return row?.is_recent === true;
  }
  return caller.kind === 'session' && (await readProof(db, caller)).provenUntil !== null;
}

/**
 * Requires a recent proof, so that a session cookie alone is not enough to take over an account. API keys and tokens that
 * are not first-party need none.
 * @throws proof_required
 */
export async function requireRecentProof(db: QueryRunner, caller: Prover): Promise<void> {
  if (caller.kind !== 'session' && !caller.sessionId) return;
  if (!(await hasRecentProof(db, caller))) throw new ProblemError('proof_required');
}
