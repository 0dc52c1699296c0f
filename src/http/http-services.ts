import type { IncomingMessage } from 'node:http';
import type { Attempts } from '../rate-limit/attempts.ts';
import type { DenialLog } from '../events/denials.ts';
import type { Usage } from '../auth/last-used.ts';
import type { Services } from '../app-services.ts';
import type { Limiter } from '../rate-limit/limiter.ts';
import type { AccessLog } from './access-log.ts';
import type { LocateClient } from './geolocation.ts';

/** What every way in shares, beside the procedures' services. */
export type HttpServices = {
  readonly services: Services;
  readonly limiter: Limiter;
  readonly attempts: Attempts;
  readonly usage: Usage;
  readonly denials: DenialLog;
  readonly log: AccessLog;
  readonly clientAddress: (req: IncomingMessage) => string;
  readonly locateClient: LocateClient;
};
