import type { Database } from '../../db/database.ts';
import { ProblemError } from '../../problems/error.ts';
import { command } from '../../db/query.ts';
import { recordedCommand, runAndRecord } from '../../events/record.ts';
import type { Principal } from '../../auth/principal.ts';
import { openSession } from '../../db/predicates.ts';
import { PROOF_TIME, withProofNow } from '../../auth/session-proofs.ts';
import type { ProofMethod, Proofs } from '../../entities/index.ts';
import { logoutJobs } from '../../jobs/logouts.ts';
import { change } from '../../transactions/change.ts';
import { lockSession, lockSessionsOfAccount, type LockedSession } from '../../transactions/lock-credentials.ts';
import type { Change } from '../../transactions/steps.ts';
import type { AuthenticatingBrowser } from '../../procedures/browser-client.ts';

/** How an account signed in, as the REST API names it. */
export type AuthenticationType = 'password' | 'passkey' | 'invitation' | 'email_link';

/** A session that was open until a transaction revoked it. */
export type EndedSession = {
  readonly id: string;
  readonly accountId: string;
  readonly authenticationType: AuthenticationType | null;
  readonly proofs: Proofs;
};

/**
 * Revokes the session that a sign-in replaces. Call it before later locks of the sign-in: see LOCK_ORDER.
 * @returns the session; null if the browser had none, or something else has revoked it
 */
export async function revokeReplacedSession(tx: Change, replaced: Principal | null): Promise<EndedSession | null> {
  if (replaced?.kind !== 'session') return null;
  const [ended] = await endSessions(tx, { id: replaced.credentialId }, 'signed in again');
  return ended ?? null;
}

type SessionFilter =
  | { readonly id: string; readonly account?: string }
  | { readonly account: string; readonly except?: string };

/** Revokes one session, or all of an account except one. @returns the number of revoked sessions */
export const revokeSessions = async (tx: Change, which: SessionFilter, reason: string): Promise<number> =>
  (await endSessions(tx, which, reason)).length;

const endOpen = command<{ told: string }>(
  'session_revoke',
  `with ended as (
     update session s set revoked_at = now() where id = any(string_to_array($1, ' ')) and ${openSession('s')} returning s.id)
   ${logoutJobs('select id from ended')}`,
);

/** Revokes sessions like `revokeSessions`. @returns the revoked ones */
export async function endSessions(tx: Change, which: SessionFilter, reason: string): Promise<EndedSession[]> {
  const [locked] = await tx.run([lockSessionsStep(which)]);
  return endLocked(tx, locked, reason);
}

const lockSessionsStep = (which: SessionFilter) => {
  if ('except' in which || !('id' in which))
    return [lockSessionsOfAccount, [which.account, which.except ?? '']] as const;
  return [lockSession, [which.id, which.account ?? null]] as const;
};

/** Revokes locked sessions that are open. */
async function endLocked(change: Change, locked: readonly LockedSession[], reason: string): Promise<EndedSession[]> {
  const ended = locked.filter(({ is_open: wasOpen }) => wasOpen);
  if (ended.length === 0) return [];
  change.later([endOpen, [ended.map(({ id }) => id).join(' ')]]);
  await change.record(
    'session.ended',
    ended.map(({ id: sessionId, account_id: accountId }) => ({ accountId, sessionId, reason })),
  );
  return ended.map(({ id, account_id: accountId, authentication_type: authenticationType, proofs }) => ({
    id,
    accountId,
    authenticationType,
    proofs,
  }));
}

/** Revokes a session of the account. An unknown id, or one of another account, is ignored (specification, section 4.5). */
export const revokeMySession = async (db: Database, caller: Principal, sessionId: string): Promise<void> => {
  await endOwn(db, caller, { id: sessionId, account: caller.accountId });
};

/** Revokes all sessions of the account except the calling one. @returns how many */
export const revokeOtherSessions = (db: Database, caller: Principal): Promise<number> =>
  endOwn(db, caller, { account: caller.accountId, except: caller.credentialId });

function endOwn(db: Database, caller: Principal, which: SessionFilter): Promise<number> {
  const spec = { on: { account: caller.accountId }, requires: 'self', reads: [lockSessionsStep(which)] } as const;
  return change(
    db,
    caller,
    spec,
    async (opened, [locked]) => (await endLocked(opened, locked, 'by the account')).length,
  );
}

const markProven = recordedCommand<{ id: string }>(
  'session_update_proofs',
  `update session s set proofs = ${withProofNow('s', '$2')}, proven_at = ${PROOF_TIME}
   where s.id = $1 and s.revoked_at is null returning s.id`,
  'session.proven',
);

/**
 * Adds a proof to a session: its user has just proved who they are by this method.
 * @throws credential_invalid if the session was revoked
 */
export async function addProof(
  db: Database,
  _browserClient: AuthenticatingBrowser,
  { credentialId, accountId }: Principal,
  method: ProofMethod,
): Promise<void> {
  const fields = { accountId, sessionId: credentialId, method };
  const [row] = await runAndRecord(db, markProven, [credentialId, method], fields);
  // A password change revokes all sessions, so a proof by the old password fails here.
  if (row === undefined) throw new ProblemError('credential_invalid');
}
