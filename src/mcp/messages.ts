import { ProblemError } from '../problems/error.ts';

/** The largest batch of a client of the protocol before 2025-06-18, as over tRPC. */
const MAX_BATCH = 20;
/** The SDK reads messages recursively. No argument of a tool is nested. */
const MAX_DEPTH = 32;
/** Answers repeat the id, and errors the name or URI. */
const MAX_NAME = 255;

type Message = {
  readonly id?: unknown;
  readonly method?: unknown;
  readonly params?: { name?: unknown; uri?: unknown };
};

/**
 * Checks the messages of a body, and returns what each calls: the name of a tool, or of a method.
 * @throws batch_too_large, validation_failed (400)
 */
export function readCalls(body: unknown): readonly string[] {
  const messages = (Array.isArray(body) ? body : [body]) as (Message | null)[]; // only what is checked below is read
  if (messages.length > MAX_BATCH)
    throw new ProblemError('batch_too_large', `A batch can hold at most ${MAX_BATCH} calls.`);
  if (isDeeperThan(body, MAX_DEPTH))
    throw new ProblemError('validation_failed', `The body is nested deeper than ${MAX_DEPTH} levels.`);
  return messages.map((message) => {
    const { id, method, params } = message ?? {};
    for (const [pointer, value] of Object.entries({
      '/id': id,
      '/method': method,
      '/params/name': params?.name,
      '/params/uri': params?.uri,
    }))
      if (typeof value === 'string' && value.length > MAX_NAME) throw tooLong(pointer);
    const called = method === 'tools/call' ? params?.name : method;
    return typeof called === 'string' ? called : '';
  });
}

const tooLong = (pointer: string): ProblemError =>
  new ProblemError('validation_failed', `\`${pointer}\` is longer than ${MAX_NAME} characters.`, {
    errors: [{ in: 'body', pointer, code: 'max_length', params: { max: MAX_NAME } }],
  });

function isDeeperThan(value: unknown, depth: number): boolean {
  let level = [value];
  for (let left = depth; left > 0 && level.length > 0; left -= 1)
    level = level.flatMap((item) =>
      typeof item === 'object' && item !== null ? (Object.values(item) as unknown[]) : [],
    );
  return level.length > 0;
}
