/** Returns `write`, each call of which waits for those before, so that a flush also waits for what a timer is writing. */
export function oneAtATime<Options extends readonly unknown[]>(
  write: (...options: Options) => Promise<void>,
): (...options: Options) => Promise<void> {
  let last = Promise.resolve();
  return (...options) => (last = last.catch(() => undefined).then(() => write(...options)));
}
