import { hash } from 'node:crypto';
import type { EntityManager } from '@mikro-orm/postgresql';
import type { NoticeKind } from '../email/notices.ts';

/** Tells the owner of an account about a change that gives or takes access. */
export type SecurityNotice =
  | { kind: NoticeKind }
  | { kind: 'email_change_requested' | 'email_changed'; newEmail: string }
  | { kind: 'ownership_offer_made' | 'team_deleted'; teamName: string }
  | {
      kind: 'new_device';
      browser: string | null;
      os: string | null;
      country: string | null;
      city: string | null;
      at: string;
    };

/** An email about an account, to its address or to the one it is to have. */
export type AccountMail = { accountId: string; to: string } & (
  | SecurityNotice
  | { kind: 'verify_email' | 'change_email' | 'reset_password' | 'sign_in'; sealedToken: string }
  | { kind: 'already_registered' }
  | { kind: 'ownership_offered'; teamId: string }
);

/** The jobs there are, and what each carries. Secrets in a payload are sealed. */
export type Jobs = {
  /** `copiedLink` is the hash of the link that was handed out together with the mail's, in hex: it lives as long. */
  sendInvitation: { invitationId: string; sealedToken: string; copiedLink?: string };
  sendAccountMail: AccountMail;
};

/** Jobs with a lower number start first. Links and notices that a person waits for precede invitations. */
export const PRIORITY = { sendAccountMail: 0, sendInvitation: 10, cleanup: 20 } as const;

/** The queue retries after e, e², … seconds, at most six hours apart: the 13th attempt is made about 22 hours after the first. */
export const ATTEMPTS_MAX = 13;

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
  await tx.execute(
    `select graphile_worker.add_job(?, payload := ?::json, job_key := ?, run_at := ?::timestamptz, priority := ?, max_attempts := ?)`,
    [name, JSON.stringify(payload), key, runAt?.toISOString() ?? null, PRIORITY[name], ATTEMPTS_MAX],
  );
}

/** One invitation has one waiting mail: a renewal replaces what has not left yet. */
export const invitationKey = (invitationId: string): string => `invitation:${invitationId}`;

/**
 * Only one email of a kind waits per account and address: a later one replaces it. Sign-ins from new browsers are
 * reported one by one.
 */
export const accountMailKey = ({ kind, accountId, to, ...rest }: AccountMail): string =>
  `${kind}:${accountId}:${hash('sha256', `${to.toLowerCase()} ${'at' in rest ? rest.at : ''}`).slice(0, 16)}`;
