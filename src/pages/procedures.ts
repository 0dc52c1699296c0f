import type { AnyTRPCProcedure } from '@trpc/server';
import { Router } from 'express';
import { scopesOf, type Access } from '../procedures/authorize.ts';
import { definitionOf, type Definition } from '../procedures/definition.ts';
import type { Meta } from '../procedures/meta.ts';
import { toTypeText } from './typescript-types.ts';
import { escapeHtml } from './html.ts';
import type { Brand } from './brand.ts';
import { createPlainPages } from './plain.ts';

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
${procedures.map(([path, procedure]) => entry(path, definitionOf<Meta>(procedure))).join('\n')}`;

function entry(path: string, { type, inputs, output, meta }: Definition<Meta>): string {
  const access = [describeAccess(meta?.access), ...describeProof(meta)].join(' · ');
  const input = inputs.map((schema) => toTypeText(schema, 'input')).join(' & ') || 'none';
  const types = `in   ${input}\nout  ${output === undefined ? 'any' : toTypeText(output, 'output')}`;
  return `<h2><code>${escapeHtml(path)}</code></h2>
<p>${type} · ${escapeHtml(access)}</p>
<pre tabindex="0" aria-label="Input and output of ${escapeHtml(path)}"><code>${escapeHtml(types)}</code></pre>`;
}

/** Says when a session needs a recent proof for a mutation. */
function describeProof({ access, effect = 'none' }: Meta = {}): string[] {
  if (access === undefined || access.isOperatorApi || effect === 'none') return [];
  const condition = /^widens( if .*)$/.exec(effect)?.[1] ?? '';
  return [`a session needs a recent proof${condition}`];
}

function describeAccess(access: Access | undefined): string {
  if (access === undefined) return 'no credential required';
  if (access.operatorOnly) return 'operator session';
  if (access.isOperatorApi) return ['operator key', ...scopesOf(access).map((scope) => `scope ${scope}`)].join(', ');
  if (access.sessionOnly)
    return access.firstParty ? `user session, or first-party token with scope ${access.firstParty}` : 'user session';
  const { accountLevel, permission, otherPermissions = [] } = access;
  const scopes = scopesOf(access);
  return [
    ...(scopes.length === 0 ? ['any credential'] : scopes.map((scope) => `scope ${scope}`)),
    ...(accountLevel ? ['not for team credentials'] : []),
    ...(permission === null ? [] : [permission, ...otherPermissions].map((each) => `permission ${each}`)),
  ].join(', ');
}
