import { ConfigError } from './config/config.ts';
import { start } from './service/start.ts';

await start().catch((error: unknown) => {
  // One line for each error that the operator can fix. Other errors are defects and keep their stack.
  const [isCode, stack] = error instanceof Error ? ['code' in error, error.stack] : [false, String(error)];
  const faults = error instanceof ConfigError ? error.faults : [isCode ? (error as Error).message : stack];
  process.stderr.write(faults.map((fault) => `roster: ${fault}\n`).join(''));
  process.exit(1);
});
