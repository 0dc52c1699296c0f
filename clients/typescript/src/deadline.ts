/**
 * Runs with a signal that aborts with the caller's or after a time. For runtimes without `AbortSignal.any`.
 */
export async function withDeadline<Result>(
  ms: number,
  signal: AbortSignal | undefined,
  run: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const controller = new AbortController();
  const follow = () => controller.abort(signal?.reason);
  const timer = setTimeout(
    () => controller.abort(new DOMException(`There was no response within ${ms} ms.`, 'TimeoutError')),
    ms,
  );
  if (signal?.aborted) follow();
  signal?.addEventListener('abort', follow, { once: true });
  try {
    return await run(controller.signal);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', follow);
    controller.abort(); // ends an upload that was answered before its end
  }
}
