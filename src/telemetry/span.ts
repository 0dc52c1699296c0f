/** Runs a piece of work that a trace shows by its name: one that is fixed, never a text with values. */
export type RunInSpan = <Result>(
  system: 'postgresql' | 'redis',
  name: string,
  run: () => Promise<Result>,
) => Promise<Result>;
