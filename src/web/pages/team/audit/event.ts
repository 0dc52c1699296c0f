import type { Outputs } from '../../../trpc.ts';

export type AuditEvent = Outputs['audit']['list']['events'][number];
