import type { ActorKind } from '../../entities/index.ts';

/** An event as it is stored. */
export type EventRow = {
  id: string;
  occurred_at: string;
  event: string;
  actor_kind: ActorKind;
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
