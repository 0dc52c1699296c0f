import { once } from 'node:events';
import { InvalidArgumentError, Option, type Command } from 'commander';
import type { Place } from '../events/chain/hash-chain.ts';
import { EXPORT_FORMATS, exportEvents, type ExportFormat } from '../resources/audit-log/export.ts';
import { verifyAudit, type Fault } from '../events/chain/verify.ts';
import { printed, withServices } from './operate.ts';
import { instant, option, required } from './options.ts';

type ExportOptions = { format: ExportFormat; team?: string; from?: Date; to?: Date };

export function auditCommands(audit: Command): void {
  audit
    .command('verify')
    .description('Compute the chain of the audit log again, and tell the first place where it is broken')
    .addOption(option('--known <sequence:hash>', 'a checkpoint from the log, which the chain must still have', place))
    .action(
      withServices(async (services, { known }: { known?: Place }) => {
        const found = await verifyAudit(services, known);
        const { fault, events, pending, end } = found;
        if (fault !== null) {
          const line = `${events} events before it are as they were written.`;
          return { json: { ok: false, ...found }, text: line, failure: faultLine(fault) };
        }
        return {
          json: { ok: true, ...found },
          text: `${events} events are as they were written, ${pending} wait for their place. The chain ends at ${end.sequence}:${end.hash}`,
        };
      }),
    );

  audit
    .command('export')
    .description('Print the audit log, the oldest event first')
    .addOption(required(new Option('--format <format>', 'NDJSON or CSV').choices(EXPORT_FORMATS)))
    .option('--team <id>', 'of this team alone')
    .addOption(option('--from <instant>', 'from then on, as ISO 8601 with a time zone', instant))
    .addOption(option('--to <instant>', 'before then', instant))
    .action(
      withServices(async ({ db }, { format, team, from, to }: ExportOptions) => {
        for await (const text of exportEvents(db, format, { teamId: team, from, to })) {
          if (!process.stdout.write(text)) await once(process.stdout, 'drain');
        }
        return printed;
      }),
    );
}

const FAULTS: Readonly<Record<Fault['kind'], string>> = {
  event_changed: 'was changed',
  event_missing: 'was deleted',
  event_unchained: 'was written past the service, or its place in the chain was taken away',
  link_missing: 'has no place in the chain any more',
  checkpoint_differs: 'is not what a checkpoint says',
  checkpoint_not_signed: 'has a checkpoint that none of SECRET_KEYS has signed',
  end_not_signed: 'comes after the last checkpoint',
  end_missing: 'and what came after it was cut off',
};

const faultLine = ({ kind, sequence, eventId }: Fault): string =>
  `the audit log is broken: ${[sequence === null ? 'the event' : `event ${sequence}`, eventId].filter(Boolean).join(' ')} ${FAULTS[kind]} (${kind})`;

function place(raw: string): Place {
  const [, sequence, hash] = /^(\d{1,15}):([0-9a-f]{64})$/.exec(raw) ?? [];
  if (sequence === undefined || hash === undefined)
    throw new InvalidArgumentError('It must be a sequence and a hash, such as 17:0a1b…');
  return { sequence: Number(sequence), hash };
}
