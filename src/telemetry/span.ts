/** Runs an operation in a span. The name has to be fixed text without values. */
export type RunInSpan = <Result>(
  system: 'postgresql' | 'redis',
  name: string,
  run: () => Promise<Result>,
) => Promise<Result>;
