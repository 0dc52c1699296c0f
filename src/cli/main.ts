import { constants } from 'node:os';
import { CommanderError } from 'commander';
import { createRoster } from './commands.ts';
import { failureLine } from './failure.ts';
import { onLostWork } from './lost-work.ts';

// A reader such as `head` closes the pipe early. Exit like a process that was killed by SIGPIPE, without a message.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(128 + constants.signals.SIGPIPE);
  throw error;
});

const fail = (message: string): void => {
  process.stderr.write(`roster: ${message}\n`);
  process.exitCode = 1;
};

const end = onLostWork(() => {
  fail('the command ended before its work: something that it waited for never answered');
  process.exit();
});
try {
  await createRoster().parseAsync();
} catch (error) {
  const isHelpOrVersion = error instanceof CommanderError && error.exitCode === 0;
  if (!isHelpOrVersion) fail(await failureLine(error));
} finally {
  end();
}
