import type { IncomingMessage } from 'node:http';
import type { Attempts } from '../access/throttle.ts';
import type { Refusals } from '../access/refusals.ts';
import type { Usage } from '../access/usage.ts';
import type { Services } from '../rpc/context.ts';
import type { Limiter } from './limiter.ts';
import type { AccessLog } from './access-log.ts';
import type { PlaceOf } from './place.ts';

/** What every way in shares, beside the procedures' services. */
export type Transport = {
  readonly services: Services;
  readonly limiter: Limiter;
  readonly attempts: Attempts;
  readonly usage: Usage;
  readonly refusals: Refusals;
  readonly log: AccessLog;
  readonly clientAddress: (req: IncomingMessage) => string;
  readonly placeOf: PlaceOf;
};
