import { hash } from 'node:crypto';
import { command } from '../db/query.ts';
import type { StoredActor } from '../events/actor.ts';
import type { LeakSource, NoticeCause, NoticeKind, NoticeSubject, NoticeThing } from '../email/notices.ts';
import type { Language } from '../messages/languages.ts';
import type { Change } from '../transactions/steps.ts';

/** An API key that will be revoked because it is not used. */
export type UnusedKey = { name: string; keyPrefix: string; last4: string; endsAt: string };

/**
 * A notice of a change of the access to an account. With `isDigest`, those that happened since the last one of its
 * kind, team and cause; when it is due, it is replaced by a notice with their number.
 */
export type AccessNotice = NoticeSubject & {
  kind: NoticeKind;
  cause?: NoticeCause;
  isDigest?: boolean;
  number?: number;
  things?: readonly NoticeThing[];
};

/** A notice to the owner of an account about a change that grants or revokes access. */
export type SecurityNotice =
  | AccessNotice
  | { kind: 'unused_keys'; keys: UnusedKey[]; number: number; at: string }
  | { kind: 'webhook_disabled'; url: string; reason: string; isOfInstallation?: boolean }
  | {
      kind: 'leaked_key_revoked';
      keyId: string;
      keyName: string;
      keyPrefix: string;
      last4: string;
      teamName: string | null;
      leak: LeakSource;
      foundAt: string | null;
    }
  | { kind: 'leaked_token_revoked'; familyId: string; clientName: string; leak: LeakSource; foundAt: string | null }
  | {
      kind: 'new_device';
      browser: string | null;
      os: string | null;
      country: string | null;
      city: string | null;
      at: string;
    };

/**
 * An email about an account, sent to its present or its new email address. `language` is used if the account prefers
 * none or does not exist: that of the browser that requested a link, never that of one which caused a security notice.
 */
export type AccountMail = { accountId: string; to: string; language?: Language } & (
  | SecurityNotice
  | { kind: 'verify_email' | 'change_email' | 'reset_password' | 'sign_in'; sealedToken: string }
  | { kind: 'already_registered' }
  | { kind: 'ownership_offered'; teamId: string }
);

/** The payloads of all jobs by task. Tokens in a payload are encrypted. */
export type Jobs = {
  /** `copiedLink` is the hex hash of the copyable link that was created with the emailed one. Both expire together. */
  sendInvitation: { invitationId: string; sealedToken: string; copiedLink?: string };
  sendAccountMail: AccountMail;
  /**
   * A request for an emailed link to an address, which is encrypted: the job is there whether or not it has an account.
   * `attemptId` is the sign-up that requests it, and `browserHash` the hex hash of the browser whose sign-up is
   * verified. `clientId` is the application at which the request began.
   */
  sendRequestedLink: {
    kind: 'reset_password' | 'sign_in' | 'verify_email';
    sealedEmail: string;
    browserHash?: string;
    attemptId?: string;
    clientId?: string;
    language?: Language;
    actor: StoredActor;
  };
  /** Who deleted the client is recorded for each of its grants. */
  removeClient: { clientId: string; actor: StoredActor };
  /** Deletes the deliveries of a removed webhook endpoint. */
  removeEndpoint: { endpointId: string };
  /** Tells a client that a session ended. Written by `logoutJobs`. */
  sendLogout: { sessionId: string; accountId: string; clientId: string };
  /** Imports uploaded rows. */
  importUpload: { importId: string };
};

/** Jobs with a lower number start first. Links and notices for waiting users precede invitations. */
export const PRIORITY = {
  sendAccountMail: 0,
  sendRequestedLink: 0,
  sendInvitation: 10,
  sendLogout: 10,
  removeClient: 20,
  removeEndpoint: 20,
  importUpload: 20,
  cleanup: 20,
} as const;

/** Jobs of which one runs at a time, so that the others leave workers to emails. */
const ONE_AT_A_TIME: ReadonlySet<keyof Jobs> = new Set(['importUpload']);

/** Jobs that a later one with the same key does not delay, so that nobody can put off what others requested. */
const KEEP_START: ReadonlySet<keyof Jobs> = new Set(['sendRequestedLink']);

/**
 * The queue retries after e, e², … seconds, at most six hours apart: the 13th attempt is made about 22 hours after the
 * first.
 */
export const ATTEMPTS_MAX = 13;

// PostgreSQL would plan the statements of the function for each call, which takes 80 µs: it expects the plan for an
// array of one job to be cheaper than a plan for all arrays. The setting ends with the transaction.
const addJob = command<{ id: string }>(
  'job_insert',
  `select (graphile_worker.add_job($1, payload := $2::json, queue_name := $3, job_key := $4,
     run_at := coalesce($5::timestamptz, now() + make_interval(secs => $9)),
     priority := $6::int, max_attempts := $7::int, job_key_mode := $8)).id
   from set_config('plan_cache_mode', 'force_generic_plan', true)`,
);

/**
 * Returns the statement that queues a job in the transaction of its change. It runs at least once after the commit, and
 * never if the transaction rolls back.
 * @param key a later job with the same key replaces one that has not started
 * @param start the earliest one: a time of the database, or the seconds until then; immediately by default
 */
export const jobStep = <Name extends keyof Jobs>(name: Name, payload: Jobs[Name], key: string, start?: Date | number) =>
  [
    addJob,
    [
      name,
      JSON.stringify(payload),
      ONE_AT_A_TIME.has(name) ? name : null,
      key,
      start instanceof Date ? start.toISOString() : null,
      PRIORITY[name],
      ATTEMPTS_MAX,
      KEEP_START.has(name) ? 'preserve_run_at' : 'replace',
      typeof start === 'number' ? start : null,
    ],
  ] as const;

/** Queues a job in the transaction of `tx` like `jobStep`, with its next statements. */
export async function enqueue<Name extends keyof Jobs>(
  tx: Change,
  ...job: [name: Name, payload: Jobs[Name], key: string, start?: Date | number]
): Promise<void> {
  tx.later(jobStep(...job));
}

/**
 * Waiting requests of one kind for an address are one, except those of several sign-ups. The deletion of an account
 * finds them by the hash.
 */
export const requestedLinkKey = (kind: string, email: string, signUp = ''): string =>
  `link:${kind}:${hash('sha256', email.toLowerCase())}:${signUp}`;

/** An invitation has at most one waiting email. A renewal replaces it. */
export const invitationKey = (invitationId: string): string => `invitation:${invitationId}`;

/**
 * At most one email of a kind waits per account and email address; a later one replaces it. Each sign-in from a new
 * browser, each leaked secret and each change of the access to an account is reported separately.
 */
export const accountMailKey = (mail: AccountMail): string =>
  `${mail.kind}:${mail.accountId}:${hash('sha256', `${mail.to.toLowerCase()} ${findSubject(mail)}`).slice(0, 16)}`;

/** Returns what a notice is about, if several of its kind can wait. */
function findSubject(mail: AccountMail): string {
  if ('at' in mail) return mail.at;
  if ('cause' in mail && mail.cause !== undefined) return `${mail.cause.at} ${mail.thing}`;
  if ('url' in mail) return mail.url;
  if ('keyId' in mail) return mail.keyId;
  return 'familyId' in mail ? mail.familyId : '';
}
