import { z } from 'zod';
import { isDisplayable } from './registered-client.ts';
import { resourceId, text, timestamp } from '../../procedures/fields.ts';

export const clientName = text(1, 100).check(({ value, issues }) => {
  if (value !== '' && !isDisplayable(value)) issues.push({ code: 'invalid_format', format: 'showable', input: value });
});

export const REDIRECT_URIS_MAX = 20;

/** The service validates each URI, because the rules depend on the type of the client. */
const redirectUris = z.array(z.string()).min(1).max(REDIRECT_URIS_MAX);

export const createClientInput = z.object({
  name: clientName,
  redirectUris,
  isNative: z.boolean(),
  isConfidential: z.boolean(),
});
export type NewClient = z.infer<typeof createClientInput>;

export const updateClientInput = z.object({
  clientId: resourceId,
  name: clientName.optional(),
  redirectUris: redirectUris.optional(),
});
export type ClientChange = Omit<z.infer<typeof updateClientInput>, 'clientId'>;

export const OVERLAP_HOURS_MAX = 168;

export const rotateSecretInput = z.object({
  clientId: resourceId,
  overlapHours: z.int().min(0).max(OVERLAP_HOURS_MAX),
});
export const deleteClientInput = z.object({ clientId: resourceId });

export const clientOutput = z.object({
  id: z.string(),
  name: z.string(),
  redirectUris: z.array(z.string()),
  isNative: z.boolean(),
  isConfidential: z.boolean(),
  createdAt: timestamp,
  /** The valid secrets, newest first. */
  secrets: z.array(z.object({ last4: z.string(), createdAt: timestamp, expiresAt: timestamp.nullable() })),
});

export const createdClientOutput = z.object({ client: clientOutput, clientSecret: z.string().nullable() });
export const rotatedClientOutput = z.object({ client: clientOutput, clientSecret: z.string() });
