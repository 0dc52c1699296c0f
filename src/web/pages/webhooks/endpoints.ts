import type { Outputs } from '../../trpc.ts';

export type Endpoint = Outputs['webhooks']['list'][number];
export type Delivery = Outputs['webhooks']['deliveries']['deliveries'][number];
export type EventType = Outputs['webhooks']['types'][number];
export type NewSecret = Outputs['webhooks']['create'];

/** A team, or null for the endpoints of the installation. */
export type TeamId = string | null;
