import { randomUUID } from 'node:crypto';
import type { Api } from '../support/api.ts';

export type EventRow = {
  id: string;
  occurred_at: string;
  event: string;
  actor_kind: string;
  actor_id: string | null;
  credential_id: string | null;
  client_id: string | null;
  team_id: string | null;
  account_id: string | null;
  target_id: string | null;
  address: string | null;
  request_id: string | null;
  details: Record<string, unknown>;
  count: number;
};

/** The ids that the service gives to requests. */
export const OWN_ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** What was recorded of a request, by the id that its client sent. */
export const eventsOf = (api: Pick<Api, 'rows'>, clientRequestId: string) =>
  api.rows<EventRow>(
    `select *, details - 'clientRequestId' as details from audit_event
     where details ->> 'clientRequestId' = $1 order by id`,
    [clientRequestId],
  );

/** What was recorded by somebody's call. */
export async function recordedBy(
  api: Pick<Api, 'rows'>,
  { headers }: { headers: Record<string, string> },
  call: () => Promise<unknown>,
): Promise<EventRow[]> {
  const requestId = randomUUID();
  headers['x-request-id'] = requestId;
  await call();
  delete headers['x-request-id'];
  return eventsOf(api, requestId);
}
