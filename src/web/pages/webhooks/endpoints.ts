import { useQuery } from '@tanstack/react-query';
import { query, type Outputs } from '../../trpc.ts';

export type Endpoint = Outputs['webhooks']['list'][number];
export type Delivery = Outputs['webhooks']['deliveries']['deliveries'][number];
export type EventType = Outputs['webhooks']['types'][number];
export type NewSecret = Outputs['webhooks']['create'];

/** A team, or null for the endpoints of the installation. */
export type TeamId = string | null;

/** Returns whether the user may give an endpoint all types of events. Until that is known, the service decides. */
export const useSeesAll = (teamId: TeamId): boolean =>
  useQuery(query('webhooks.types', { teamId })).data?.every(({ isAvailable }) => isAvailable) ?? true;
