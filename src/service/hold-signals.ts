const SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const;

/** Does what a signal must not interrupt. After one, the process exits once the work is done. */
export async function holdSignals(work: () => Promise<void>): Promise<void> {
  let isHeld = false;
  const hold = () => {
    isHeld = true;
  };
  for (const signal of SIGNALS) process.on(signal, hold);
  try {
    await work();
  } finally {
    for (const signal of SIGNALS) process.off(signal, hold);
  }
  // Not by the signal again: the first process of a container ignores one that it does not handle.
  if (isHeld) process.exit(0);
}
