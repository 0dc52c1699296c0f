import { z } from 'zod';
import { ACTOR_KINDS } from '../entities/index.ts';
import { openEnum } from '../open-enum.ts';
import { EVENTS, type EventName } from './catalogue.ts';
import type { EventDefinition } from './definition.ts';
import { createDetailsExample, createDetailsSchema } from './details-schema.ts';

const id = z.string();

/** Returns the schema of an event that is in the audit log only: a line of `roster audit export`. */
export const createRecordSchema = (type: EventName) =>
  z
    .strictObject({
      id,
      occurred_at: z.string().meta({ format: 'date-time' }),
      event: z.literal(type),
      actor_kind: openEnum(ACTOR_KINDS),
      actor_id: id.nullable(),
      credential_id: id.nullable(),
      client_id: id.nullable(),
      team_id: id.nullable(),
      account_id: id.nullable(),
      target_id: id.nullable(),
      address: z.string().nullable(),
      request_id: id.nullable(),
      client_request_id: id.nullable().meta({ description: 'The `X-Request-Id` that the client sent.' }),
      count: z.int().meta({
        description:
          'How many equal denials (within a minute) or reads of an operator key (within an hour) it stands for.',
      }),
      details: createDetailsSchema(type),
    })
    .meta({ description: 'In the audit log only, not in feeds and webhooks: a line of `roster audit export`.' });

/** Creates an example of an event that is in the audit log only. */
export function createRecordExample(type: EventName) {
  const { target, audience }: EventDefinition = EVENTS[type];
  return {
    id: 'evt_0one',
    occurred_at: '2026-11-21T09:30:00.000Z',
    event: type,
    actor_kind: 'session',
    actor_id: 'acc_0ada',
    credential_id: 'ses_0one',
    client_id: target === 'oauth_client' || target === 'oauth_grant' ? 'client_0one' : null,
    team_id: audience === 'team' ? 'team_0acme' : null,
    account_id: target === 'account' || target === 'oauth_grant' ? 'acc_0ada' : null,
    target_id: target === 'oauth_grant' ? 'grant_0one' : null,
    address: '192.0.2.7',
    request_id: '0b9f6f0e-3f5c-4d9a-8a5e-1c2d3e4f5a6b',
    client_request_id: null,
    count: 1,
    details: createDetailsExample(type),
  };
}
