import type { Services } from '../../app-services.ts';
import { WebhookEndpoint } from '../../entities/index.ts';
import type { EventName } from '../../events/catalogue.ts';
import { record } from '../../events/record.ts';
import { invalidInput, ProblemError } from '../../errors.ts';
import { removeEndpoints } from '../../jobs/remove-endpoint.ts';
import { HOUR_MS } from '../../time.ts';
import { findUrlFault, networkOf } from '../../webhooks/endpoint-network.ts';
import { ensureCursor } from '../../webhooks/fan-out.ts';
import { wakeEndpoints } from '../../webhooks/queue.ts';
import { isTeamType } from '../../webhooks/types.ts';
import { generateSecret, publicKeyOf, signatureKind, type SignatureKind } from '../../crypto/webhook-secret.ts';
import { endpointFields } from '../../transactions/disable-webhooks.ts';
import { memberOf, teamOf, withEndpoint, withOwner, type Owner } from './owner.ts';
import { presentEndpoint, URL_LENGTH_MAX } from './webhooks.schema.ts';

/** How many endpoints a team, or the installation, can have. */
export const ENDPOINTS_MAX = 10;

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
  return withOwner(services.db, owner, async (tx) => {
    const teamId = teamOf(owner);
    // Serializes concurrent calls for the installation; the lock of the team does so for a team.
    await ensureCursor(tx);
    if (teamId === null) await tx.execute('update webhook_cursor set sequence = sequence where id = 1');
    const count = await tx.count(WebhookEndpoint, { team: teamId, deletedAt: null });
    if (count >= ENDPOINTS_MAX)
      throw new ProblemError('webhook_limit_reached', `There are ${count} endpoints; the limit is ${ENDPOINTS_MAX}.`);
    const endpoint = tx.create(WebhookEndpoint, {
      team: teamId,
      account: memberOf(owner),
      url: address,
      types: [...new Set(types)],
      secret: services.encryption.encrypt(secret),
    });
    record(tx, 'webhook_endpoint.created', endpointFields(endpoint));
    await tx.flush();
    return { endpoint: presentEndpoint(endpoint, publicKeyOf(secret)), secret: shownSecret(secret) };
  });
}

/** Changes the URL or the types of an endpoint. */
export async function updateEndpoint(
  services: Services,
  owner: Owner,
  endpointId: string,
  { url, types }: { url?: string | undefined; types?: readonly EventName[] | undefined },
) {
  const address = url === undefined ? undefined : toAddress(services, owner, url);
  requireTypes(owner, types ?? []);
  return withEndpoint(services.db, owner, endpointId, async (tx, endpoint) => {
    const isMoved = address !== undefined && address !== endpoint.url;
    if (isMoved) endpoint.url = address;
    if (types !== undefined) endpoint.types = [...new Set(types)];
    const changed = [...(isMoved ? ['url'] : []), ...(types === undefined ? [] : ['types'])];
    if (changed.length > 0) record(tx, 'webhook_endpoint.updated', { ...endpointFields(endpoint), changed });
    await tx.flush();
    return present(services, endpoint);
  });
}

/** Stops deliveries. Events wait until the endpoint is resumed, for as long as deliveries are kept. */
export const pauseEndpoint = (services: Services, owner: Owner, endpointId: string) =>
  withEndpoint(services.db, owner, endpointId, async (tx, endpoint) => {
    if (!endpoint.pausedAt) record(tx, 'webhook_endpoint.paused', endpointFields(endpoint));
    endpoint.pausedAt ??= new Date();
    await tx.flush();
    return present(services, endpoint);
  });

/** Starts deliveries of a paused or disabled endpoint. The caller becomes responsible for an endpoint of a team. */
export const resumeEndpoint = (services: Services, owner: Owner, endpointId: string) =>
  withEndpoint(services.db, owner, endpointId, async (tx, endpoint) => {
    const account = memberOf(owner);
    const nothing = { pausedAt: null, disabledAt: null, disabledReason: null, failingSince: null, heldUntil: null };
    tx.assign(endpoint, { ...nothing, ...(account !== null && { account }) });
    record(tx, 'webhook_endpoint.resumed', endpointFields(endpoint));
    await tx.flush();
    await wakeEndpoints(tx, [endpointId]);
    return present(services, endpoint);
  });

/** Replaces the secret. The present one also signs for `overlapHours`; one from an earlier rotation ends. */
export const rotateSecret = (services: Services, owner: Owner, endpointId: string, overlapHours: number) =>
  withEndpoint(services.db, owner, endpointId, async (tx, endpoint) => {
    const { encryption } = services;
    const secret = generateSecret(signatureKind(encryption.decrypt(endpoint.secret)));
    const isOverlapping = overlapHours > 0;
    endpoint.previousSecret = isOverlapping ? endpoint.secret : null;
    endpoint.previousExpiresAt = isOverlapping ? new Date(Date.now() + overlapHours * HOUR_MS) : null;
    endpoint.secret = encryption.encrypt(secret);
    record(tx, 'webhook_endpoint.secret_rotated', endpointFields(endpoint));
    await tx.flush();
    return { endpoint: presentEndpoint(endpoint, publicKeyOf(secret)), secret: shownSecret(secret) };
  });

/** Deletes an endpoint. Its deliveries follow by a job. */
export const deleteEndpoint = (services: Services, owner: Owner, endpointId: string): Promise<void> =>
  withEndpoint(services.db, owner, endpointId, async (tx, endpoint) => {
    record(tx, 'webhook_endpoint.deleted', endpointFields(endpoint));
    await removeEndpoints(tx, { id: endpointId });
  });

export const present = ({ encryption }: Services, endpoint: WebhookEndpoint) =>
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
