import { z } from 'zod';
import type { ProductPermission, Scope } from '../../entities/index.ts';
import { readableName, resourceId, timestamp } from '../../procedures/fields.ts';

export const clientName = readableName(1, 100);

export const REDIRECT_URIS_MAX = 20;

/** The service validates each URI, because the rules depend on the type of the client. */
const redirectUris = z.array(z.string()).min(1).max(REDIRECT_URIS_MAX);

export const createClientInput = z.object({
  name: clientName,
  redirectUris,
  isNative: z.boolean(),
  isConfidential: z.boolean(),
});
export type NewClient = z.infer<typeof createClientInput> & OperatorFields;

/** What only the operator sets, and the input of an account does not have. */
export type OperatorFields = {
  /** The scopes of a first-party client. */
  readonly firstPartyScopes?: readonly Scope[] | undefined;
  readonly isDevelopment?: boolean | undefined;
  readonly homeUrl?: string | null | undefined;
  readonly initiateLoginUri?: string | null | undefined;
  readonly postLogoutRedirectUris?: readonly string[] | undefined;
  readonly backchannelLogoutUri?: string | null | undefined;
  /** None to take them away. */
  readonly openidScopes?: readonly string[] | null | undefined;
  /** How long sessions last at least in which users signed in for a first-party client. Null for `SESSION_DAYS`. */
  readonly sessionDays?: number | null | undefined;
  /** Whether token requests of a first-party client with a secret have a limit. */
  readonly hasTokenLimit?: boolean | undefined;
  /** Of the product. */
  readonly permissions?: readonly ProductPermission[] | undefined;
};

export const updateClientInput = z.object({
  clientId: resourceId,
  name: clientName.optional(),
  redirectUris: redirectUris.optional(),
});
export type ClientChange = Omit<z.infer<typeof updateClientInput>, 'clientId'> & Omit<OperatorFields, 'isDevelopment'>;

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
