import { constants } from 'node:os';
import { runRoster } from './commands.ts';
import { onLostWork } from './lost-work.ts';

// A reader such as `head` closes the pipe early. Exit like a process that was killed by SIGPIPE, without a message.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(128 + constants.signals.SIGPIPE);
  throw error;
});

const end = onLostWork(() => {
  process.stderr.write('roster: the command ended before its work: something that it waited for never answered\n');
  process.exit(1);
});
process.exitCode = await runRoster(process.argv.slice(2));
end();
