import type { AnyTRPCProcedure } from '@trpc/server';
import { Router } from 'express';
import { z } from 'zod';
import type { Access } from '../procedures/authorize.ts';
import type { Meta } from '../procedures/trpc.ts';
import { escapeHtml } from './html.ts';
import { createPlainPages } from './plain.ts';

type Built = { type: string; inputs: readonly z.ZodType[]; output?: z.ZodType; meta?: Meta };

/** `GET /docs/procedures`: every procedure over tRPC with its kind, who may call it, what goes in and what comes out. */
export function procedurePages(procedures: Readonly<Record<string, AnyTRPCProcedure>>): Router {
  const { style, show } = createPlainPages('/docs/procedures/style.css');
  const main = list(Object.entries(procedures).toSorted(([a], [b]) => rank(a) - rank(b) || (a < b ? -1 : 1)));

  const pages = Router();
  pages.get('/docs/procedures', (_req, res) => show(res, 'Procedures', main));
  pages.get(style.path, style.serve);
  return pages;
}

/** Those that are REST operations too come first. */
const rank = (path: string): number => Number(path.includes('.'));

const list = (procedures: readonly [path: string, procedure: AnyTRPCProcedure][]): string => `<h1>Procedures</h1>
<p>What <code>/trpc</code> serves. Inputs and outputs are JSON without a transformer; a refusal carries
<a href="/problems">its problem document</a> in <code>error.data.problem</code>. Where a scope is named, a bearer
credential that holds it can call; a session cookie holds all of them.</p>
${procedures.map(([path, procedure]) => entry(path, procedure._def as unknown as Built)).join('\n')}`;

const entry = (
  path: string,
  { type, inputs, output, meta }: Built,
): string => `<h2><code>${escapeHtml(path)}</code></h2>
<p>${type} · ${escapeHtml(callerOf(meta?.access))}</p>
<pre tabindex="0" aria-label="Input and output of ${escapeHtml(path)}"><code>${escapeHtml(
  `in   ${inputs.map((schema) => typeOf(schema, 'input')).join(' & ') || 'nothing'}\nout  ${output === undefined ? 'anything' : typeOf(output, 'output')}`,
)}</code></pre>`;

function callerOf(access: Access | undefined): string {
  if (access === undefined) return 'anybody';
  if (access.operatorOnly) return 'an operator signed in';
  if (access.sessionOnly) return 'somebody signed in';
  const { scope, accountLevel, permission } = access;
  return [
    scope === null ? 'any credential' : `scope ${scope}`,
    ...(accountLevel ? ['not for team credentials'] : []),
    ...(permission === null ? [] : [`permission ${permission}`]),
  ].join(', ');
}

type Schema = z.core.JSONSchema.BaseSchema;

function typeOf(schema: z.ZodType, io: 'input' | 'output'): string {
  const { $defs: named = {}, ...root } = z.toJSONSchema(schema, { io });
  return written(root, named);
}

/** A JSON schema as TypeScript would write it, on one line, with named schemas written out. */
function written(schema: Schema, named: Readonly<Record<string, Schema>>): string {
  if (Array.isArray(schema.type)) return schema.type.map((one) => written({ ...schema, type: one }, named)).join(' | ');
  const { $ref, type, properties, required = [], items, anyOf, enum: values, additionalProperties } = schema;
  const inner = (part: unknown) => written((part ?? {}) as Schema, named); // zod writes schemas, and booleans where anything fits
  if ($ref !== undefined) return inner(named[$ref.replace('#/$defs/', '')]);
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (values !== undefined) return values.map((value) => JSON.stringify(value)).join(' | ');
  if (anyOf !== undefined) return anyOf.map(inner).join(' | ');
  if (type === 'array') return `Array<${inner(items)}>`;
  if (type !== 'object') return String(type ?? 'unknown');
  if (properties === undefined) return `Record<string, ${inner(additionalProperties)}>`;
  const members = Object.entries(properties).map(
    ([name, member]) => `${name}${required.includes(name) ? '' : '?'}: ${inner(member)}`,
  );
  return `{ ${members.join('; ')} }`;
}
