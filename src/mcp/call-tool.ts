import type { CallToolResult } from '@modelcontextprotocol/server';
import { recordDenial } from '../http/denials.ts';
import type { HttpServices } from '../http/http-services.ts';
import { ProblemError } from '../errors.ts';
import { PROBLEMS } from '../problems.ts';
import type { Context } from '../procedures/context.ts';
import type { JsonText } from '../procedures/json-text.ts';
import { createProblemDocument, toProblemError } from '../procedures/problem-details.ts';
import type { Route } from '../rest/routes.ts';
import { PAGE_SIZE, type Tool } from './tools.ts';

type Arguments = Readonly<Record<string, unknown>>;

/** What a list procedure returns: an array, or a long list as text. */
type List = readonly unknown[] | JsonText;

/**
 * Calls the procedure of a tool. Errors become results that a model can act on: the problem document and what to do
 * next. Messages of unexpected errors do not leave the service. Never rejects.
 * @param preview describes what removing a member revokes
 */
export async function callTool(
  http: HttpServices,
  ctx: Context,
  tool: Tool,
  preview: Route['call'],
  sent: unknown,
): Promise<CallToolResult> {
  const args = withoutNulls(sent);
  const { offset = 0, confirm, ...input } = args;
  try {
    requireKnown(tool, args);
    if (tool.needsConfirmation && confirm !== true) return await describeChange(ctx, tool, preview, input);
    const output = await tool.source.call(ctx, () => Promise.resolve(input));
    if (tool.needsConfirmation) return toResult({ changed: true, message: `${tool.source.meta.returns}` });
    return toResult(tool.isList ? toPage(output as List, offset) : (output as Arguments)); // by its output schema
  } catch (error) {
    const problem = toProblemError(error, { raw: input, locationOf: () => 'body' });
    const { requestId, address, authentication } = ctx;
    http.log.failure(problem, requestId);
    recordDenial(http, problem, { principal: authentication.principal, address, requestId, teamId: input['teamId'] });
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
  throw new ProblemError('validation_failed', `Unknown arguments: ${unknown.join(', ')}.`, {
    errors: unknown.map((name) => ({ in: 'body', pointer: `/${name}`, code: 'invalid_value' })),
  });
}

async function describeChange(
  ctx: Context,
  { name, title, source }: Tool,
  preview: Route['call'],
  input: Arguments,
): Promise<CallToolResult> {
  const revoked =
    name === 'removeTeamMember'
      ? [`It would also revoke: ${JSON.stringify(await preview(ctx, () => Promise.resolve(input)))}.`]
      : [];
  const parts = [
    `Nothing was changed. The call would do this: ${title}.`,
    source.meta.openapi?.description,
    ...revoked,
  ];
  return toResult({
    changed: false,
    message: [...parts, 'If the user agrees, call it again with `confirm: true`.'].filter(Boolean).join(' '),
  });
}

function toPage(items: List, offset: unknown): Arguments {
  if (!Number.isInteger(offset) || Number(offset) < 0) {
    throw new ProblemError('validation_failed', undefined, {
      errors: [{ in: 'body', pointer: '/offset', code: 'min_value', params: { min: 0 } }],
    });
  }
  const end = Number(offset) + PAGE_SIZE;
  return { items: items.slice(Number(offset), end), total: items.length, nextOffset: end < items.length ? end : null };
}

/** The text repeats the structured content, for clients that read only one of them. */
const toResult = (content: Arguments): CallToolResult => ({
  content: [{ type: 'text', text: JSON.stringify(content) }],
  structuredContent: { ...content },
});

function toFailure(problem: ProblemError, { services, requestId }: Context): CallToolResult {
  const { code, detail, errors, retryAfter } = createProblemDocument(problem, services.config.baseUrl, requestId);
  const [, , advice] = PROBLEMS[problem.problem];
  const text = JSON.stringify({ code, detail, errors, retryAfter, requestId, advice });
  return { isError: true, content: [{ type: 'text', text }] };
}
