import type { CallToolResult } from '@modelcontextprotocol/server';
import { recordDenial } from '../http/denials.ts';
import type { HttpServices } from '../http/http-services.ts';
import { ProblemError } from '../problems/error.ts';
import type { Context } from '../procedures/context.ts';
import { toProblemError } from '../procedures/problem-details.ts';
import { parseOffset, readWithin, toPage, type List } from './bounds.ts';
import { confirmChange } from './confirm.ts';
import { toFailure, toResult, type Arguments } from './results.ts';
import type { Tool } from './tools.ts';

/**
 * Calls the procedure of a tool. Errors become results that a model can act on: the problem document and what to do
 * next. Messages of unexpected errors do not leave the service. Never rejects.
 */
export async function callTool(http: HttpServices, ctx: Context, tool: Tool, sent: unknown): Promise<CallToolResult> {
  const args = withoutNulls(sent);
  const { offset = 0, confirm, ...input } = args;
  try {
    requireKnown(tool, args);
    if (tool.plan !== null) return toResult(await confirmChange(ctx, tool, tool.plan, { input, confirm }));
    if (!tool.isList) return toResult(await readWithin(ctx, tool.source, args));
    const start = parseOffset(offset);
    const list = (await tool.source.call(ctx, () => Promise.resolve(input))) as List; // by its output schema
    return toResult(toPage(list, start));
  } catch (error) {
    const problem = toProblemError(error, { raw: input, locationOf: () => 'body' });
    const { requestIds, address, authentication } = ctx;
    http.log.failure(problem, requestIds);
    recordDenial(http, problem, { principal: authentication.principal, address, requestIds, teamId: input['teamId'] });
    return toFailure(problem, ctx);
  }
}

/** Models send null for what they leave out. */
const withoutNulls = (sent: unknown): Arguments =>
  Object.fromEntries(Object.entries((sent ?? {}) as Arguments).filter(([, value]) => value !== null));

/** Rejects invented arguments, because a model relies on what it has sent. */
function requireKnown({ inputSchema: { properties = {} } }: Tool, args: Arguments): void {
  const unknown = Object.keys(args).filter((name) => !Object.hasOwn(properties, name));
  if (unknown.length === 0) return;
  const known = Object.keys(properties).join(', ') || 'none';
  throw new ProblemError('validation_failed', `Unknown arguments: ${shorten(unknown)}. The tool has: ${known}.`, {
    errors: unknown.map((name) => ({ in: 'body', pointer: `/${name}`, code: 'invalid_value' })),
  });
}

const NAMES_MAX = 10;
const NAME_LENGTH_MAX = 64;

const shorten = (names: readonly string[]): string =>
  names
    .slice(0, NAMES_MAX)
    .map((name) => name.slice(0, NAME_LENGTH_MAX))
    .join(', ');
