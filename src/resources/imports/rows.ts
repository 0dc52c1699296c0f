import { z } from 'zod';
import { isAccountOnly } from '../../auth/scopes.ts';
import { readForeignHash, UnsupportedHashError } from '../../crypto/foreign-hash.ts';
import { SCOPES } from '../../entities/index.ts';
import { emailAddress, readableName, text } from '../../procedures/fields.ts';
import type { Line } from './lines.ts';

/** The types of rows, in the order in which they are imported: each refers to earlier ones. */
export const STAGES = ['account', 'team', 'membership', 'apiKey'] as const;
export type Stage = (typeof STAGES)[number];

/** Why a row is not imported. `detail` contains no value of the row. */
export type Refusal = { readonly code: string; readonly detail: string };

export const externalId = text(1, 255);
const time = z.iso.datetime({ offset: true }).refine((value) => value >= '1970' && value < '9999');
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

const SCHEMAS = {
  account: z.object({
    externalId,
    email: emailAddress,
    /** True, false, or the time of the verification. */
    emailVerified: z.union([z.boolean(), time]).default(false),
    firstName: optional(text(1, 255)),
    lastName: optional(text(1, 255)),
    avatar: optional(pictureUrl),
    preferredLocale: optional(text(1, 35)),
    passwordHash: optional(passwordHash),
    isDisabled: z.boolean().default(false),
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
    createdAt: optional(time),
  }),
  membership: z.object({
    team: externalId,
    account: externalId,
    role: z.enum(['owner', 'member', 'guest']).default('member'),
    isActive: z.boolean().default(true),
    expiresAt: optional(time),
    joinedAt: optional(time),
  }),
  apiKey: z
    .object({
      account: externalId,
      team: optional(externalId),
      name: readableName(1, 100),
      scopes: z.array(z.enum(SCOPES)).min(1).max(SCOPES.length),
      secretHash: z.string().regex(/^[0-9a-f]{64}$/),
      keyPrefix: text(1, 32),
      last4: text(1, 4),
      createdAt: optional(time),
      expiresAt: optional(time),
      lastUsedAt: optional(time),
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
    value = JSON.parse(utf8.decode(bytes));
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
    ({ path, message, code }) => `/${path.join('/')}: ${code === 'custom' ? message : code}`,
  );
  return { code: 'invalid', detail: faults.slice(0, 10).join('; ') };
}

export const isRefusal = (row: object): row is Refusal => 'code' in row && 'detail' in row;
