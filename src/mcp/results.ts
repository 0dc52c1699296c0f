import type { CallToolResult } from '@modelcontextprotocol/server';
import type { ProblemError } from '../problems/error.ts';
import { toReadableJson } from '../messages/neutralize.ts';
import { PROBLEMS } from '../problems/catalogue.ts';
import type { Context } from '../procedures/context.ts';
import { createProblemDocument } from '../procedures/problem-details.ts';

export type Arguments = Readonly<Record<string, unknown>>;

/** A pointer or parameter can contain what the caller sent. */
const TEXT_MAX = 200;
const DETAIL_MAX = 1000;

/**
 * The text repeats the structured content, for clients that read only one of them. Names that users chose are JSON
 * strings in it, which they cannot end, and their characters that reorder or hide text are escaped.
 */
export const toResult = (content: Arguments): CallToolResult => ({
  content: [{ type: 'text', text: toReadableJson(JSON.stringify(content)) }],
  structuredContent: { ...content },
});

/** Converts an error into a result: the problem document, of bounded length, and what to do next. */
export function toFailure(problem: ProblemError, { services, requestIds }: Context): CallToolResult {
  const { detail, ...document } = createProblemDocument(problem, services.config.baseUrl, requestIds);
  const [, , advice] = PROBLEMS[problem.problem];
  const text = JSON.stringify(
    {
      ...document,
      detail: detail?.slice(0, DETAIL_MAX),
      advice,
    },
    (key, value: unknown) => (typeof value === 'string' && key === 'pointer' ? value.slice(0, TEXT_MAX) : value),
  );
  return { isError: true, content: [{ type: 'text', text: toReadableJson(text) }] };
}
