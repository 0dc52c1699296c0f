import type { IncomingMessage } from 'node:http';
import type { KeyUsage } from '../access/key-usage.ts';
import type { Services } from '../rpc/context.ts';
import type { Limiter } from './limiter.ts';
import type { AccessLog } from './access-log.ts';

/** What every way in shares, beside the procedures' services. */
export type Transport = {
  readonly services: Services;
  readonly limiter: Limiter;
  readonly keyUsage: KeyUsage;
  readonly log: AccessLog;
  readonly clientAddress: (req: IncomingMessage) => string;
};
