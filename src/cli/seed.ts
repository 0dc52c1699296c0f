import type { Command } from 'commander';
import { seedDemo } from '../demo/seed.ts';
import { ProblemError } from '../problems/error.ts';
import { demoBanner } from '../demo/banner.ts';
import { holdSignals } from '../service/hold-signals.ts';
import { CommandError } from './failure.ts';
import { withServices } from './operate.ts';

export function seedCommand(command: Command): void {
  command
    .description('Add demo accounts, teams and keys, unless the demo accounts exist')
    .requiredOption('--demo', 'add the demo data')
    // The password cannot be shown again.
    .action((options: object, self: Command) => holdSignals(() => seed(options, self)));
}

const seed = withServices(async (services) => {
  const seeded = await seedDemo(services).catch((error: unknown) => {
    if (!(error instanceof ProblemError)) throw error;
    throw new CommandError(`--demo: nothing was added: ${error.message}`);
  });
  return { json: seeded, lines: demoBanner(services.config.baseUrl, seeded).split('\n') };
});
