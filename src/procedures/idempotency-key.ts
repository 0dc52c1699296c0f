import type { AnyTRPCProcedure } from '@trpc/server';
import type { Database } from '../db/database.ts';
import { invalidInput } from '../problems/error.ts';
import { runOnce } from '../transactions/idempotent.ts';
import { toActor, type Context } from './context.ts';
import { definitionOf } from './definition.ts';
import { dataOf, type Middleware } from './middlewares.ts';

export const IDEMPOTENCY_KEY = 'Idempotency-Key';
const LENGTH_MAX = 255;

/** A string of a structured field (RFC 9651), as the IETF draft has it. */
const QUOTED = /^"((?:[ !#-[\]-~]|\\["\\])*)"$/;
/** What most clients send. Without spaces, so that two headers, which Node joins by `, `, are no key. */
const BARE = /^[!#-~]+$/;

/** Reads the value of an `Idempotency-Key` header, in quotes or bare. @throws validation_failed (400) */
export function parseIdempotencyKey(header: string): string {
  const quoted = QUOTED.exec(header)?.[1]?.replaceAll(/\\(.)/g, '$1');
  const key = quoted ?? (header === '' || BARE.test(header) ? header : undefined);
  if (key === undefined) throw invalid('The header must have one value of visible ASCII characters.', 'invalid_format');
  if (key === '') throw invalid('The header is empty.', 'min_length', { min: 1 });
  if (key.length > LENGTH_MAX) throw invalid('The header is too long.', 'max_length', { max: LENGTH_MAX });
  return key;
}

const invalid = (
  detail: string,
  code: 'invalid_format' | 'min_length' | 'max_length',
  params?: Record<string, number>,
) => invalidInput(`/${IDEMPOTENCY_KEY}`, detail, code, 'header', params);

/** The part of a procedure's `Meta` that decides. */
type Meta = {
  readonly openapi?: { readonly method?: string; readonly operationId?: string };
  readonly secretOf?: (output: unknown) => string;
  readonly readsOnly?: boolean;
  readonly upload?: object;
};

const metaOf = (procedure: AnyTRPCProcedure): Meta => definitionOf<Meta>(procedure).meta ?? {};

/** Whether a REST operation takes the header: every POST that changes something. */
export const takesIdempotencyKey = (procedure: AnyTRPCProcedure): boolean =>
  definitionOf(procedure).type === 'mutation' &&
  metaOf(procedure).openapi?.method === 'POST' &&
  !metaOf(procedure).readsOnly;

/**
 * Returns what lets a procedure run once for a key; undefined if it takes none, or an upload: that is compared when the
 * procedure has read it.
 */
export function onceForKey(procedure: AnyTRPCProcedure): Middleware<Context> | undefined {
  if (!takesIdempotencyKey(procedure) || metaOf(procedure).upload !== undefined) return undefined;
  const { openapi, secretOf } = metaOf(procedure);
  const operation = openapi?.operationId ?? '';
  return async ({ ctx, input, next }) => {
    if (ctx.idempotencyKey === undefined) return next();
    const call = {
      credentialId: toActor(ctx).credentialId ?? '',
      operation,
      key: parseIdempotencyKey(ctx.idempotencyKey),
      input,
      turn: ctx.turn ?? (ctx as { readonly caller?: { readonly teamId: string } }).caller?.teamId, // of a `teamProcedure`
      secretOf,
    };
    const resolve = async (db: Database) => dataOf(await next({ ctx: { services: { ...ctx.services, db } } }));
    return { ok: true, data: await runOnce(ctx.services.db, call, resolve) };
  };
}
