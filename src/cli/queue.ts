import { InvalidArgumentError, type Command } from 'commander';
import { listWaitingEmails, removeEmails, retryEmails } from '../jobs/waiting-emails.ts';
import type { Services } from '../service/services.ts';
import { CommandError } from './failure.ts';
import { withServices } from './operate.ts';
import { option } from './options.ts';
import type { Answer } from './output.ts';

const LIST_MAX = 10_000;

type Selection = { all?: true; id?: string };

export function queueCommands(queue: Command): void {
  queue
    .command('list')
    .description('List the emails that have not been sent yet, oldest first')
    .addOption(option('--limit <number>', 'maximum number of emails', limit).default(100))
    .action(
      withServices(async ({ db }, { limit: max }: { limit: number }) => {
        const emails = await listWaitingEmails(db, max);
        const lines = emails.map(({ id, kind, subjectId, state, attempts, nextAt, lastError }) => [
          id,
          kind,
          subjectId ?? '-',
          state,
          `${attempts} attempts`,
          nextAt,
          lastError,
        ]);
        return { json: emails, lines: lines.length > 0 ? lines : ['No email is waiting.'] };
      }),
    );

  command(
    queue,
    'retry',
    'Send waiting emails now',
    retryEmails,
    (count) => `${count} emails scheduled to be sent now.`,
  );
  command(queue, 'remove', 'Delete waiting emails', removeEmails, (count) => `${count} emails deleted.`);
}

function command(
  queue: Command,
  name: string,
  description: string,
  act: (db: Services['db'], id: string | null) => Promise<number>,
  say: (count: number) => string,
): void {
  queue
    .command(name)
    .description(description)
    .addOption(option('--id <id>', 'id of the email, from `queue list`', jobId).conflicts('all'))
    .option('--all', 'all waiting emails')
    .action(
      withServices(async ({ db }, { id, all }: Selection): Promise<Answer> => {
        if (id === undefined && all === undefined) throw new CommandError('name an email with --id, or all with --all');
        const count = await act(db, id ?? null);
        if (id !== undefined && count === 0) throw new CommandError(`--id: no email with the id ${id} is waiting`);
        return { json: { count }, lines: [say(count)] };
      }),
    );
}

function jobId(raw: string): string {
  if (!/^[1-9]\d{0,17}$/.test(raw)) throw new InvalidArgumentError('It must be an id from `queue list`.');
  return raw;
}

function limit(raw: string): number {
  const count = /^\d{1,6}$/.test(raw) ? Number(raw) : 0;
  if (count < 1 || count > LIST_MAX) throw new InvalidArgumentError(`It must be a whole number from 1 to ${LIST_MAX}.`);
  return count;
}
