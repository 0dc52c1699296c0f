import type { EntityManager } from '@mikro-orm/postgresql';

/** The jobs there are, and what each carries. Secrets in a payload are sealed. */
export type Jobs = {
  sendInvitation: { invitationId: string; sealedToken: string };
};

/**
 * Queues a job as a row of the transaction of `tx`: it runs after the commit, at least once, or
 * never when the transaction rolls back.
 * @param key a later job of the same key replaces an earlier one that has not started
 * @param runAt not before then; at once by default
 */
export async function enqueue<Name extends keyof Jobs>(
  tx: EntityManager,
  name: Name,
  payload: Jobs[Name],
  key: string,
  runAt?: Date,
): Promise<void> {
  await tx.execute(`select graphile_worker.add_job(?, payload := ?::json, job_key := ?, run_at := ?::timestamptz)`, [
    name,
    JSON.stringify(payload),
    key,
    runAt?.toISOString() ?? null,
  ]);
}

/** One invitation has one waiting mail: a renewal replaces what has not left yet. */
export const invitationKey = (invitationId: string): string => `invitation:${invitationId}`;
