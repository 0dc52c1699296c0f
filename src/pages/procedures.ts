import type { AnyTRPCProcedure } from '@trpc/server';
import { Router } from 'express';
import type { z } from 'zod';
import { scopesOf, type Access } from '../procedures/authorize.ts';
import type { Meta } from '../procedures/trpc.ts';
import { toTypeText } from '../procedures/typescript-types.ts';
import { escapeHtml } from './html.ts';
import type { Brand } from './brand.ts';
import { createPlainPages } from './plain.ts';

type Built = { type: string; inputs: readonly z.ZodType[]; output?: z.ZodType; meta?: Meta };

/** `GET /docs/procedures`: all tRPC procedures with their type, required access, input and output. */
export function procedurePages(procedures: Readonly<Record<string, AnyTRPCProcedure>>, brand: Brand): Router {
  const { style, show } = createPlainPages('/docs/procedures/style.css', brand);
  // Built by the first request, because few ask and every start would pay for it.
  let main: string | undefined;
  const build = () => list(Object.entries(procedures).toSorted(([a], [b]) => rank(a) - rank(b) || (a < b ? -1 : 1)));

  const pages = Router();
  pages.get('/docs/procedures', (_req, res) => show(res, 'Procedures', (main ??= build())));
  pages.get(style.path, style.serve);
  return pages;
}

/** Sorts procedures that are REST operations, too, before the others. */
const rank = (path: string): number => Number(path.includes('.'));

const list = (procedures: readonly [path: string, procedure: AnyTRPCProcedure][]): string => `<h1>Procedures</h1>
<p>The procedures of <code>/trpc</code>. Inputs and outputs are JSON without a transformer. Errors contain
<a href="/problems">a problem document</a> in <code>error.data.problem</code>. A scope means that bearer credentials
with it are accepted; a session cookie has all scopes.</p>
${procedures.map(([path, procedure]) => entry(path, procedure._def as unknown as Built)).join('\n')}`;

const entry = (
  path: string,
  { type, inputs, output, meta }: Built,
): string => `<h2><code>${escapeHtml(path)}</code></h2>
<p>${type} · ${escapeHtml(describeAccess(meta?.access))}</p>
<pre tabindex="0" aria-label="Input and output of ${escapeHtml(path)}"><code>${escapeHtml(
  `in   ${inputs.map((schema) => toTypeText(schema, 'input')).join(' & ') || 'none'}\nout  ${output === undefined ? 'any' : toTypeText(output, 'output')}`,
)}</code></pre>`;

function describeAccess(access: Access | undefined): string {
  if (access === undefined) return 'no credential required';
  if (access.operatorOnly) return 'operator session';
  if (access.isOperatorApi) return ['operator key', ...scopesOf(access).map((scope) => `scope ${scope}`)].join(', ');
  if (access.sessionOnly) return 'user session';
  const { scope, accountLevel, permission } = access;
  return [
    scope === null ? 'any credential' : `scope ${scope}`,
    ...(accountLevel ? ['not for team credentials'] : []),
    ...(permission === null ? [] : [`permission ${permission}`]),
  ].join(', ');
}
