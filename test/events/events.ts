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

/** What was recorded of a request. */
export const eventsOf = (api: Pick<Api, 'rows'>, requestId: string) =>
  api.rows<EventRow>('select * from audit_event where request_id = $1 order by id', [requestId]);

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
