import { z } from 'zod';
import { isAccountOnly } from '../../auth/scopes.ts';
import { readForeignHash, UnsupportedHashError } from '../../crypto/foreign-hash.ts';
import { looksLike, METADATA_BYTES_MAX, SCOPES, SYSTEM_ROLES } from '../../entities/index.ts';
import { parseExactJson } from '../../exact-json.ts';
import {
  emailAddress,
  instantSince1970,
  locale,
  permissionName,
  personName,
  pictureUrl,
  productPermissionNames,
  readableName,
  text,
} from '../../procedures/fields.ts';
import { isShortEnough, metadataPart } from '../metadata/metadata-patch.ts';
import { externalId } from '../operator/references.ts';
import type { Line } from './lines.ts';

/** The types of rows, in the order in which they are imported: each refers to earlier ones. */
export const STAGES = ['account', 'team', 'membership', 'apiKey'] as const;
export type Stage = (typeof STAGES)[number];

/** Why a row is not imported. `detail` contains no value of the row. */
export type Refusal = { readonly code: string; readonly detail: string };

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

/** The members are those of all other ways to create such a resource, by the same schemas. */
export const ROW_SCHEMAS = {
  account: z.object({
    externalId,
    email: emailAddress,
    /** True, false, or the time of the verification. */
    emailVerified: z.union([z.boolean(), instantSince1970]).default(false),
    firstName: optional(personName),
    lastName: optional(personName),
    avatar: optional(pictureUrl),
    preferredLocale: optional(locale),
    passwordHash: optional(passwordHash),
    isDisabled: z.boolean().default(false),
    metadata,
    createdAt: optional(instantSince1970),
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
    createdAt: optional(instantSince1970),
  }),
  membership: z.object({
    team: externalId,
    account: externalId,
    /** A system role, or the name of a role of the team. */
    role: readableName(1, 100).default('member'),
    isActive: z.boolean().default(true),
    expiresAt: optional(instantSince1970),
    joinedAt: optional(instantSince1970),
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
      createdAt: optional(instantSince1970),
      expiresAt: optional(instantSince1970),
      lastUsedAt: optional(instantSince1970),
    })
    .refine(({ scopes, permissions }) => scopes.length + permissions.length > 0, {
      path: ['scopes'],
      message: 'The key has neither scopes nor permissions.',
    })
    .refine(({ createdAt, lastUsedAt }) => createdAt === null || lastUsedAt === null || createdAt <= lastUsedAt, {
      path: ['lastUsedAt'],
      message: 'It is before `createdAt`.',
    })
    .refine(({ team, scopes }) => team === null || !scopes.some(isAccountOnly), {
      path: ['scopes'],
      message: 'A team key cannot hold account-only scopes.',
    }),
} as const;

export type Row<S extends Stage> = z.infer<(typeof ROW_SCHEMAS)[S]>;

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
  const { success, data, error } = ROW_SCHEMAS[stage].safeParse(value);
  if (success) return data as Row<S>; // TypeScript cannot infer it from `S`
  const faults = error.issues.map((issue) => `/${issue.path.join('/')}: ${reasonOf(issue)}`);
  return { code: 'invalid', detail: faults.slice(0, 10).join('; ') };
}

/** What the formats of fields ask for. */
const FORMATS: Readonly<Record<string, string>> = {
  name: 'It is blank, or contains a tab, a line end or a character that reorders or hides text.',
  url: 'It must be an https URL without a user name, password or spaces.',
  language_tag: 'It must be a language tag such as pt-BR.',
  email: 'It must be an email address.',
  datetime: 'It must be a time in ISO 8601 with a time zone.',
};

function reasonOf(issue: z.core.$ZodIssue): string {
  if (issue.code === 'invalid_format') return FORMATS[issue.format] ?? issue.code;
  if (issue.code !== 'custom') return issue.code;
  return typeof issue.params?.['reason'] === 'string' ? issue.params['reason'] : issue.message;
}

export const isRefusal = (row: object): row is Refusal => 'code' in row && 'detail' in row;
