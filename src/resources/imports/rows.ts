import { z } from 'zod';
import { isAccountOnly } from '../../auth/scopes.ts';
import { readForeignHash, UnsupportedHashError } from '../../crypto/foreign-hash.ts';
import { looksLike, METADATA_BYTES_MAX, SCOPES, SYSTEM_ROLES } from '../../entities/index.ts';
import { parseExactJson } from '../../exact-json.ts';
import { emailAddress, permissionName, productPermissionNames, readableName, text } from '../../procedures/fields.ts';
import { isShortEnough, metadataPart } from '../metadata/metadata-patch.ts';
import type { Line } from './lines.ts';

/** The types of rows, in the order in which they are imported: each refers to earlier ones. */
export const STAGES = ['account', 'team', 'membership', 'apiKey'] as const;
export type Stage = (typeof STAGES)[number];

/** Why a row is not imported. `detail` contains no value of the row. */
export type Refusal = { readonly code: string; readonly detail: string };

export const externalId = text(1, 255);
/** As an instant in UTC, because PostgreSQL takes fewer offsets. */
const time = z.iso
  .datetime({ offset: true })
  .transform((value) => new Date(value).toISOString())
  .refine((value) => value >= '1970' && value < '9999');
const pictureUrl = text(1, 2048).refine((value) => /^https?:\/\//i.test(value));
const optional = <Schema extends z.ZodType>(schema: Schema) => schema.nullish().transform((value) => value ?? null);

const passwordHash = z
  .string()
  .max(1000)
  .check(({ value, issues }) => {
    try {
      readForeignHash(value);
    } catch (error) {
      if (!(error instanceof UnsupportedHashError)) throw error;
      issues.push({ code: 'custom', message: error.message, input: '' });
    }
  });

const metadataWhole = metadataPart.check(({ value, issues }) => {
  if (!isShortEnough(JSON.stringify(value)))
    issues.push({ code: 'custom', message: `It has more than ${METADATA_BYTES_MAX} bytes of JSON.`, input: '' });
});
const metadata = z
  .object({ public: metadataWhole.optional(), private: metadataWhole.optional() })
  .optional()
  .transform((given) => ({ public: given?.public ?? {}, private: given?.private ?? {} }));

/** The roles that a row creates with its team. */
const ROLES_MAX = 50;
const teamRole = z.object({
  name: readableName(1, 100),
  permissions: z.array(permissionName),
  productPermissions: productPermissionNames.default([]),
});

const requireDistinctNames: z.core.CheckFn<z.infer<typeof teamRole>[]> = ({ value, issues }) => {
  const known = SYSTEM_ROLES.map(({ name }): string => name);
  value.forEach(({ name }, i) => {
    if (known.some((other) => looksLike(other, name)))
      issues.push({ code: 'custom', path: [i, 'name'], message: 'Another role looks like this one.', input: '' });
    known.push(name);
  });
};

const SCHEMAS = {
  account: z.object({
    externalId,
    email: emailAddress,
    /** True, false, or the time of the verification. */
    emailVerified: z.union([z.boolean(), time]).default(false),
    firstName: optional(readableName(1, 255)),
    lastName: optional(readableName(1, 255)),
    avatar: optional(pictureUrl),
    preferredLocale: optional(text(1, 35)),
    passwordHash: optional(passwordHash),
    isDisabled: z.boolean().default(false),
    metadata,
    createdAt: optional(time),
  }),
  team: z.object({
    externalId,
    name: readableName(1, 100),
    slug: optional(text(1, 60)),
    description: optional(text(0, 1000)),
    avatarUrl: optional(pictureUrl),
    /** The external id of the account that owns it. */
    owner: externalId,
    plan: optional(text(1, 255)),
    roles: z.array(teamRole).max(ROLES_MAX).default([]).check(requireDistinctNames),
    metadata,
    createdAt: optional(time),
  }),
  membership: z.object({
    team: externalId,
    account: externalId,
    /** A system role, or the name of a role of the team. */
    role: text(1, 100).default('member'),
    isActive: z.boolean().default(true),
    expiresAt: optional(time),
    joinedAt: optional(time),
    metadata,
  }),
  apiKey: z
    .object({
      account: externalId,
      team: optional(externalId),
      name: readableName(1, 100),
      scopes: z.array(z.enum(SCOPES)).max(SCOPES.length),
      /** Of the operator’s product. A key without scopes has some. */
      permissions: productPermissionNames.default([]),
      secretHash: z.string().regex(/^[0-9a-f]{64}$/),
      keyPrefix: text(1, 32),
      last4: text(1, 4),
      createdAt: optional(time),
      expiresAt: optional(time),
      lastUsedAt: optional(time),
    })
    .refine(({ scopes, permissions }) => scopes.length + permissions.length > 0, {
      path: ['scopes'],
      message: 'The key has neither scopes nor permissions.',
    })
    .refine(({ team, scopes }) => team === null || !scopes.some(isAccountOnly), {
      path: ['scopes'],
      message: 'A team key cannot hold account-only scopes.',
    }),
} as const;

export type Row<S extends Stage> = z.infer<(typeof SCHEMAS)[S]>;

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** Parses the JSON object of a line. @returns its type, or why it has none */
export function readType({ bytes }: Line): { stage: Stage; value: object } | Refusal {
  if (bytes === null) return { code: 'line_too_long', detail: 'The line has more than 1 MiB.' };
  let value: unknown;
  try {
    const row = utf8.decode(bytes);
    value = JSON.parse(row);
    if (typeof value === 'object' && value !== null && 'metadata' in value) value = parseExactJson(row);
  } catch (error) {
    return error instanceof SyntaxError
      ? { code: 'malformed_json', detail: 'The line is not JSON.' }
      : { code: 'invalid_utf8', detail: 'The line is not UTF-8.' };
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return { code: 'malformed_json', detail: 'The line is not a JSON object.' };
  const stage = STAGES.find((name) => 'type' in value && value.type === name);
  if (stage === undefined) return { code: 'unknown_type', detail: `\`type\` must be one of ${STAGES.join(', ')}.` };
  return { stage, value };
}

/** Validates a row. */
export function readRow<S extends Stage>(stage: S, value: object): Row<S> | Refusal {
  const { success, data, error } = SCHEMAS[stage].safeParse(value);
  if (success) return data as Row<S>; // TypeScript cannot infer it from `S`
  const faults = error.issues.map(
    (issue) => `/${issue.path.join('/')}: ${issue.code === 'custom' ? reasonOf(issue) : issue.code}`,
  );
  return { code: 'invalid', detail: faults.slice(0, 10).join('; ') };
}

const reasonOf = ({ params, message }: { params?: Record<string, unknown> | undefined; message: string }): string =>
  typeof params?.['reason'] === 'string' ? params['reason'] : message;

export const isRefusal = (row: object): row is Refusal => 'code' in row && 'detail' in row;
