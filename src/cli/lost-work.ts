import { SECOND_MS } from '../time.ts';

/** Longer than each timer that does not keep the process, and that something can wait for. */
const IDLE_MS_MAX = 5 * SECOND_MS;
const CHECK_MS = 100;

/**
 * Calls `report` if a command waits for something that nothing will ever settle: nothing keeps the process any more, and
 * timers that do not keep it had the time to end. Node would exit in the middle of the `await`, with code 13.
 * @returns what to call when the command has ended
 */
export function onLostWork(report: () => void): () => void {
  let idleMs = 0;
  const check = (): void => {
    idleMs += CHECK_MS;
    if (idleMs > IDLE_MS_MAX) report();
    else setTimeout(() => undefined, CHECK_MS);
  };
  process.on('beforeExit', check);
  return () => void process.off('beforeExit', check);
}
