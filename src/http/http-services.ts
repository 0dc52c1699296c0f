import type { IncomingMessage } from 'node:http';
import type { Attempts } from '../rate-limit/attempts.ts';
import type { DenialLog } from '../events/denials.ts';
import type { OperatorReadLog } from '../events/operator-reads.ts';
import type { Usage } from '../auth/last-used.ts';
import type { Services } from '../service/services.ts';
import type { OperatorLimiters } from '../rate-limit/operator-limiters.ts';
import type { Limiter } from '../rate-limit/limiter.ts';
import type { AccessLog } from './access-log.ts';
import type { LocateClient } from './geolocation.ts';

/** The services that all HTTP interfaces share, in addition to those of the procedures. */
export type HttpServices = {
  readonly services: Services;
  readonly limiter: Limiter;
  readonly operatorLimiters: OperatorLimiters;
  readonly attempts: Attempts;
  readonly usage: Usage;
  readonly denials: DenialLog;
  readonly operatorReads: OperatorReadLog;
  readonly log: AccessLog;
  /** Returns the client's IP address as it was when the request arrived. */
  readonly clientAddress: (req: IncomingMessage) => string;
  readonly locateClient: LocateClient;
};
