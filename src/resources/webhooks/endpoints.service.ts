import { wrap } from '@mikro-orm/core';
import { command } from '../../db/query.ts';
import { assignChanged } from '../../transactions/assign-changed.ts';
import type { Services } from '../../service/services.ts';
import { Membership, WebhookEndpoint } from '../../entities/index.ts';
import type { EventName } from '../../events/catalogue.ts';
import { invalidInput, ProblemError } from '../../problems/error.ts';
import { notify, notifyOperators } from '../../jobs/notify.ts';
import { removeEndpoints } from '../../jobs/remove-endpoint.ts';
import { HOUR_MS } from '../../time.ts';
import { findUrlFault, networkOf } from '../../webhooks/endpoint-network.ts';
import { wakeEndpointsStep } from '../../webhooks/queue.ts';
import { isTeamType } from '../../webhooks/types.ts';
import { generateSecret, publicKeyOf, signatureKind, type SignatureKind } from '../../crypto/webhook-secret.ts';
import { endpointFields } from '../../webhooks/disable.ts';
import type { Change } from '../../transactions/steps.ts';
import { memberOf, requireVisible, teamOf, withEndpoint, withOwner, type Held, type Owner } from './owner.ts';
import { presentEndpoint, URL_LENGTH_MAX, type Shown } from './webhooks.schema.ts';

/** How many endpoints a team, or the installation, can have. */
export const ENDPOINTS_MAX = 10;

// Starts at the newest event, before the first endpoint is created, so that it misses nothing.
const startCursor = command<never>(
  'webhook_cursor_insert',
  `insert into webhook_cursor (id, sequence) select 1, coalesce(max(sequence), 0) from audit_link
   on conflict (id) do nothing`,
);

const lockCursor = command<never>(
  'webhook_cursor_update',
  'update webhook_cursor set sequence = sequence where id = 1',
);

type NewEndpoint = {
  readonly url: string;
  readonly types: readonly EventName[];
  readonly signature: SignatureKind;
};

/** Creates an endpoint, which gets the events from now on. @returns it with its secret, which cannot be read later */
export async function createEndpoint(services: Services, owner: Owner, { url, types, signature }: NewEndpoint) {
  const address = toAddress(services, owner, url);
  requireTypes(owner, types);
  const secret = generateSecret(signature);
  return withOwner(services.db, owner, async (tx, held) => {
    requireVisible(held, types);
    const teamId = teamOf(owner);
    tx.later([startCursor, []]);
    // Serializes concurrent calls for the installation; the lock of the team does so for a team.
    if (teamId === null) await tx.run([[lockCursor, []]]);
    const count = await tx.em.count(WebhookEndpoint, { team: teamId, deletedAt: null });
    if (count >= ENDPOINTS_MAX)
      throw new ProblemError('webhook_limit_reached', `There are ${count} endpoints; the limit is ${ENDPOINTS_MAX}.`);
    const endpoint = tx.em.create(WebhookEndpoint, {
      team: teamId,
      account: memberOf(owner),
      url: address,
      types: [...new Set(types)],
      secret: services.encryption.encrypt(secret),
    });
    tx.record('webhook_endpoint.created', endpointFields(endpoint));
    await notifyOfChange(tx, owner, endpoint, 'webhook_created');
    return { endpoint: presentEndpoint(endpoint, publicKeyOf(secret)), secret: shownSecret(secret) };
  });
}

/** Changes the URL or the types of an endpoint. The caller becomes responsible for an endpoint of a team. */
export async function updateEndpoint(
  services: Services,
  owner: Owner,
  endpointId: string,
  { url, types }: { url?: string | undefined; types?: readonly EventName[] | undefined },
) {
  const address = url === undefined ? undefined : toAddress(services, owner, url);
  requireTypes(owner, types ?? []);
  return withEndpoint(services.db, owner, endpointId, async (tx, endpoint, held) => {
    const former = endpoint.account?.id;
    if (url !== undefined || types !== undefined) takeOver(endpoint, owner, held, types);
    const changed = assignChanged(endpoint, { url: address, types: types && [...new Set(types)] });
    if (endpoint.account?.id !== former) changed.push('responsibleAccountId');
    if (changed.length > 0) tx.record('webhook_endpoint.updated', { ...endpointFields(endpoint), changed });
    if (changed.length > 0) await notifyOfChange(tx, owner, endpoint, 'webhook_changed');
    return presentWithKey(services, endpoint);
  });
}

/** Stops deliveries. Events wait until the endpoint is resumed, for as long as deliveries are kept. */
export const pauseEndpoint = (services: Services, owner: Owner, endpointId: string) =>
  withEndpoint(services.db, owner, endpointId, async (tx, endpoint) => {
    if (!endpoint.pausedAt) tx.record('webhook_endpoint.paused', endpointFields(endpoint));
    endpoint.pausedAt ??= new Date();
    return presentWithKey(services, endpoint);
  });

/**
 * Starts deliveries of a paused or disabled endpoint. The same member stays responsible, because it is their URL.
 * @throws webhook_without_member (409) if they left the team
 */
export const resumeEndpoint = (services: Services, owner: Owner, endpointId: string) =>
  withEndpoint(services.db, owner, endpointId, async (tx, endpoint) => {
    await requireMember(tx, endpoint);
    const isStopped = Boolean(endpoint.pausedAt ?? endpoint.disabledAt);
    tx.em.assign(endpoint, {
      pausedAt: null,
      disabledAt: null,
      disabledReason: null,
      failingSince: null,
      heldUntil: null,
    });
    if (isStopped) tx.record('webhook_endpoint.resumed', endpointFields(endpoint));
    await tx.run([wakeEndpointsStep([endpointId])]);
    return presentWithKey(services, endpoint);
  });

/** Replaces the secret. The caller becomes responsible for an endpoint of a team. The present secret also signs for `overlapHours`; one from an earlier rotation ends. */
export const rotateSecret = (services: Services, owner: Owner, endpointId: string, overlapHours: number) =>
  withEndpoint(services.db, owner, endpointId, async (tx, endpoint, held, now) => {
    takeOver(endpoint, owner, held);
    const { encryption } = services;
    const secret = generateSecret(signatureKind(encryption.decrypt(endpoint.secret)));
    const isOverlapping = overlapHours > 0;
    endpoint.previousSecret = isOverlapping ? endpoint.secret : null;
    endpoint.previousExpiresAt = isOverlapping ? new Date(now.getTime() + overlapHours * HOUR_MS) : null;
    endpoint.isOverlapping = isOverlapping;
    endpoint.secret = encryption.encrypt(secret);
    tx.record('webhook_endpoint.secret_rotated', endpointFields(endpoint));
    await notifyOfChange(tx, owner, endpoint, 'webhook_rotated');
    return { endpoint: presentEndpoint(endpoint, publicKeyOf(secret)), secret: shownSecret(secret) };
  });

/** Notifies the member who changed an endpoint of a team; all operators of one of the installation. */
async function notifyOfChange(
  tx: Change,
  owner: Owner,
  { url }: WebhookEndpoint,
  kind: 'webhook_created' | 'webhook_changed' | 'webhook_rotated',
): Promise<void> {
  const [teamId, accountId] = [teamOf(owner), memberOf(owner)];
  if (accountId === null) await notifyOperators(tx, { kind, thing: url });
  else await notify(tx, accountId, { kind, thing: url, teamId });
}

/** Deletes an endpoint. Its deliveries follow by a job. */
export const deleteEndpoint = (services: Services, owner: Owner, endpointId: string): Promise<void> =>
  withEndpoint(services.db, owner, endpointId, async (tx, endpoint) => {
    tx.record('webhook_endpoint.deleted', endpointFields(endpoint));
    await removeEndpoints(tx, { id: endpointId });
  });

/**
 * Makes the caller responsible: whoever sets where events are sent, which, and how they are signed decides who gets
 * them, so they must be able to see them. @throws permission_missing (403)
 */
function takeOver(
  endpoint: WebhookEndpoint,
  owner: Owner,
  held: Held,
  types: readonly string[] = endpoint.types,
): void {
  requireVisible(held, types);
  const account = memberOf(owner);
  if (account !== null) wrap(endpoint).assign({ account });
}

async function requireMember(tx: Change, { team, account }: WebhookEndpoint): Promise<void> {
  if (!team) return;
  const isMember = account ? (await tx.em.count(Membership, { team: team.id, account: account.id })) > 0 : false;
  if (!isMember) throw new ProblemError('webhook_without_member');
}

export const presentWithKey = ({ encryption }: Services, endpoint: Shown & Pick<WebhookEndpoint, 'secret'>) =>
  presentEndpoint(endpoint, publicKeyOf(encryption.decrypt(endpoint.secret)));

const shownSecret = (secret: string): string | null => (signatureKind(secret) === 'hmac' ? secret : null);

/** Returns the URL as it is requested (WHATWG URL Standard), which is what its owner has to see. */
function toAddress({ config }: Services, owner: Owner, url: string): string {
  const fault = findUrlFault(url, networkOf(config, teamOf(owner)));
  if (fault !== null) throw invalidInput('/url', fault);
  const { href } = new URL(url);
  if (href.length > URL_LENGTH_MAX) throw invalidInput('/url', `Use at most ${URL_LENGTH_MAX} characters.`);
  return href;
}

function requireTypes(owner: Owner, types: readonly EventName[]): void {
  const index = teamOf(owner) === null ? -1 : types.findIndex((type) => !isTeamType(type));
  if (index !== -1) throw invalidInput(`/types/${index}`, 'Use types that `webhooks.types` lists.');
}
