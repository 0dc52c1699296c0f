import { z } from 'zod';
import { PASSWORD_LENGTH } from '../../crypto/password-hash.ts';
import { ACTOR_KINDS, type Account } from '../../entities/index.ts';
import { EVENTS, type EventName } from '../../events/catalogue.ts';
import { cursor } from '../../procedures/cursors.ts';
import {
  emailAddress,
  givenPassword,
  locale,
  personName,
  pictureUrl,
  text,
  timestamp,
} from '../../procedures/fields.ts';

export const proveInput = z.object({ password: givenPassword });

/** The methods of a recent proof, and until when the last proof is valid. The address is that of an emailed link. */
export const proofOutput = z.object({
  provenUntil: timestamp.nullable(),
  email: z.string().nullable(),
  hasPassword: z.boolean(),
  hasPasskey: z.boolean(),
});

export const changePasswordInput = z.object({ newPassword: text(PASSWORD_LENGTH.min, PASSWORD_LENGTH.max) });

export const changeEmailInput = z.object({ newEmail: emailAddress });

/** People can have one name. REST asks for both (section 4 of the contract), this call for neither. */
export const updateProfileInput = z.object({
  firstName: personName.nullable().optional(),
  lastName: personName.nullable().optional(),
  avatar: pictureUrl.nullable().optional(),
  preferredLocale: locale.nullable().optional(),
});

/** An account as its owner sees it (spec 2.2). */
export const presentAccount = (account: Account) => ({
  id: account.id,
  email: account.email ?? null,
  firstName: account.firstName ?? null,
  lastName: account.lastName ?? null,
  role: account.role,
  avatar: account.avatar ?? null,
  preferredLocale: account.preferredLocale ?? null,
  emailVerified: account.emailVerifiedAt?.toISOString() ?? null,
  createdAt: account.createdAt.toISOString(),
  updatedAt: account.updatedAt.toISOString(),
});

/** An account as operators see it. */
export const presentAccountState = (account: Account) => ({
  ...presentAccount(account),
  disabled: Boolean(account.disabledAt),
});

export const ownEventsInput = z.object({
  /** `nextCursor` of the previous page. */
  cursor: cursor.optional(),
  limit: z.int().min(1).max(500).default(50),
});

const ownEvent = z.object({
  id: z.string(),
  occurredAt: timestamp,
  event: z.enum(Object.keys(EVENTS) as EventName[]), // the keys of a constant object
  actorKind: z.enum([...ACTOR_KINDS, 'operator']),
  /** Whether the user acted, also by signing in. */
  isOwn: z.boolean(),
  teamId: z.string().nullable(),
  target: z.object({ id: z.string(), name: z.string().nullable() }).nullable(),
  address: z.string().nullable(),
  requestId: z.string().nullable(),
  clientRequestId: z.string().nullable(),
  reason: z.string().nullable(),
  count: z.int(),
});

export const ownEventsOutput = z.object({ events: z.array(ownEvent), nextCursor: z.string().nullable() });

const rows = z.array(z.record(z.string(), z.unknown()));

/** The parts of an export, each as rows whose columns `export.queries.ts` lists. */
export const exportOutput = z.object({
  account: z.record(z.string(), z.unknown()),
  sessions: rows,
  knownBrowsers: rows,
  passkeys: rows,
  memberships: rows,
  invitationsSent: rows,
  apiKeys: rows,
  apiKeyUses: rows,
  connectedApps: rows,
  oauthClients: rows,
});
