import type { Logger } from 'pino';

/** Interval of the check whether `bin/run.cjs` still runs, because it cannot report that it was killed. */
const WRAPPER_CHECK_MS = 500;

/** Stops once, on the first signal or when `bin/run.cjs`, which started this process, no longer exists. */
export function onceOnSignal(log: Logger, stop: () => Promise<void>, closeLog: () => Promise<void>): void {
  let stopping = false;
  const onSignal = (signal: NodeJS.Signals | 'wrapper exited') => {
    if (stopping) return;
    stopping = true;
    log.info({ signal }, 'stopping');
    stop().then(
      () => {
        log.info('stopped');
        void closeLog().then(() => process.exit(0));
      },
      (error: unknown) => {
        log.error({ err: error }, 'shutdown failed');
        void closeLog().then(() => process.exit(1));
      },
    );
  };
  process.on('SIGTERM', onSignal).on('SIGINT', onSignal).on('SIGHUP', onSignal);
  const wrapper = process.ppid;
  if (process.env['ROSTER_WRAPPER_PID'] === String(wrapper)) {
    setInterval(() => process.ppid !== wrapper && onSignal('wrapper exited'), WRAPPER_CHECK_MS).unref();
  }
}
