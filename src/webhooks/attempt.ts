import type { Encryption } from '../crypto/encryption.ts';
import { newId } from '../entities/index.ts';
import type { Network } from '../outbound/network.ts';
import type { DisableReason } from './disable.ts';
import { errorSummary } from '../telemetry/log.ts';
import { SECOND_MS } from '../time.ts';
import type { Claim } from './claim.ts';
import { createBody, createTestBody } from './payload.ts';
import { postWebhook, type WebhookAnswer } from './post.ts';
import { nextDelayMs, parseRetryAfter } from './retry.ts';
import { signatureHeaders } from './signature.ts';
import { isKnown } from '../events/catalogue.ts';
import { requiredPermission } from './types.ts';

/** One request, for the list of deliveries. */
export type Attempt = {
  readonly id: string;
  readonly at: string;
  readonly status: number | null;
  readonly duration_ms: number;
  readonly error: string | null;
  readonly answer: string | null;
};

/** What became of a claimed delivery. */
export type Result = {
  readonly claim: Claim;
  readonly state: 'delivered' | 'failed' | 'skipped' | 'waiting';
  readonly reason: string | null;
  /** The delay until the next attempt. */
  readonly delayMs: number | null;
  /** The time for which the receiver wants no requests. */
  readonly holdMs: number;
  /** Null if no request was sent, or if it was aborted. */
  readonly attempt: Attempt | null;
  /** Why the endpoint has to be disabled. */
  readonly disables: DisableReason | null;
};

type Sender = {
  readonly encryption: Encryption;
  readonly network: (claim: Claim) => Network;
  /** Aborted when the process stops: the attempt does not count. */
  readonly stopping: AbortSignal;
};

/**
 * Makes one attempt. Permissions, signature and IP addresses are checked in each attempt. Never throws.
 * @param signal ends the attempt, which then has failed with the reason of the signal
 */
export async function attemptDelivery(claim: Claim, sender: Sender, signal: AbortSignal): Promise<Result> {
  const refusal = findRefusal(claim);
  if (refusal !== null) return { ...NOTHING, claim, ...refusal };
  const startedAt = Date.now();
  const at = new Date(startedAt);
  const took = () => ({ id: newId('wha'), at: at.toISOString(), duration_ms: Math.max(0, Date.now() - startedAt) });
  try {
    const answer = await post(claim, at, sender, signal);
    const attempt = { ...took(), status: answer.status, error: null, answer: answer.body };
    return judge(claim, answer, attempt);
  } catch (error) {
    if (sender.stopping.aborted) return { ...NOTHING, claim, state: 'waiting', delayMs: 0 };
    const reason = describe(error);
    return fail(claim, reason, { ...took(), status: null, error: reason, answer: null });
  }
}

const NOTHING = { reason: null, delayMs: null, holdMs: 0, attempt: null, disables: null } as const;

/** The time until a delivery of an unknown event type is tried again, by then by a replica that knows the type. */
const LEFT_MS = 2 * SECOND_MS;

/** Returns why the event is not sent; null if it can be. */
function findRefusal({ event_id, row, team_id, is_member, permissions, type }: Claim) {
  if (event_id !== null && row === null) return { state: 'failed', reason: 'The event is no longer kept.' } as const;
  // A newer replica created it, and knows who may see it.
  if (event_id !== null && !isKnown(type)) return { state: 'waiting', delayMs: LEFT_MS } as const;
  if (team_id === null) return null;
  if (is_member !== true)
    return { state: 'skipped', reason: 'The responsible member left the team.', disables: 'member_left' } as const;
  if (permissions === null)
    return { state: 'skipped', reason: 'The membership or account of the responsible member is not active.' } as const;
  // As for the feed of the team: who can no longer manage endpoints gets nothing through one.
  const required = ['edit_team_settings' as const, event_id === null ? null : requiredPermission(type)];
  const missing = required.find((permission) => permission !== null && !permissions.includes(permission));
  if (missing === undefined) return null;
  return { state: 'skipped', reason: `The responsible member lacks the permission ${missing}.` } as const;
}

function post(
  claim: Claim,
  at: Date,
  { encryption, network, stopping }: Sender,
  signal: AbortSignal,
): Promise<WebhookAnswer> {
  const secrets = [claim.secret, claim.previous_secret].flatMap((sealed) =>
    sealed === null ? [] : [encryption.decrypt(sealed)],
  );
  const body =
    claim.row === null
      ? createTestBody(claim.endpoint_id, new Date(claim.created_at))
      : createBody(claim.row, claim.team_id === null ? 'operator' : 'team');
  const headers = signatureHeaders(secrets, claim.event_id ?? claim.id, at, body);
  return postWebhook(claim.url, headers, body, network(claim), AbortSignal.any([stopping, signal]));
}

function judge(claim: Claim, { status, retryAfter }: WebhookAnswer, attempt: Attempt): Result {
  if (status >= 200 && status < 300) return { ...NOTHING, claim, state: 'delivered', attempt };
  const reason = `The receiver answered ${status}.`;
  if (status === 410) return { ...NOTHING, claim, state: 'failed', reason, attempt, disables: 'gone' };
  return fail(claim, reason, attempt, parseRetryAfter(retryAfter, new Date()));
}

function fail(claim: Claim, reason: string, attempt: Attempt, holdMs = 0): Result {
  // A test is for someone who is looking: it is not repeated.
  const delayMs = claim.event_id === null ? null : nextDelayMs(claim.attempts, holdMs);
  return { ...NOTHING, claim, state: delayMs === null ? 'failed' : 'waiting', reason, delayMs, holdMs, attempt };
}

/** Returns the error in one line that PostgreSQL can store. The reason of an abort is its cause. */
const describe = (error: unknown): string =>
  errorSummary(
    error instanceof Error && error.name === 'AbortError' && error.cause instanceof Error ? error.cause : error,
  )
    .slice(0, 500)
    .replaceAll('\u0000', '')
    .toWellFormed();
