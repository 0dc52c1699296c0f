import { once } from 'node:events';
import { InvalidArgumentError, Option, type Command } from 'commander';
import type { ChainPosition } from '../events/chain/hash-chain.ts';
import { EXPORT_FORMATS, exportEvents, type ExportFormat } from '../resources/audit-log/export.ts';
import { describeFault } from '../events/chain/faults.ts';
import { verifyAudit, type Verification } from '../events/chain/verify.ts';
import { printed, withServices } from './operate.ts';
import { instant, option, required } from './options.ts';

type ExportOptions = { format: ExportFormat; team?: string; from?: Date; to?: Date };

export function auditCommands(audit: Command): void {
  audit
    .command('verify')
    .description('Verify the audit log and report every inconsistency')
    .addOption(
      option('--known <sequence:hash>', 'a checkpoint from the log that the chain must still contain', position),
    )
    .action(
      withServices(async (services, { known }: { known?: ChainPosition }) => {
        const found = await verifyAudit(services, known);
        const { faults, events, pending, end } = found;
        const json = { ok: faults.length === 0, ...found };
        if (faults.length > 0) {
          const failure = `the audit log is broken: ${faults.map(describeFault).join('; ')}`;
          return { json, text: `${events} events before the first fault are verified.`, failure };
        }
        const text = `${events} events verified, ${pending} not chained yet. The chain ends at ${end.sequence}:${end.hash}`;
        return { json, text: [text, ...notices(found)].join('\n') };
      }),
    );

  audit
    .command('export')
    .description('Print the audit log, oldest event first')
    .addOption(required(new Option('--format <format>', 'NDJSON or CSV').choices(EXPORT_FORMATS)))
    .option('--team <id>', 'only events of this team; its id, or ext: and its external id')
    .addOption(option('--from <instant>', 'only events at or after this time, as ISO 8601 with a time zone', instant))
    .addOption(option('--to <instant>', 'only events before this time', instant))
    .action(
      withServices(async ({ db }, { format, team, from, to }: ExportOptions) => {
        for await (const text of exportEvents(db, format, { teamId: team, from, to })) {
          if (!process.stdout.write(text)) await once(process.stdout, 'drain');
        }
        return printed;
      }),
    );
}

/** Returns notices about a log without faults: late and unsigned events, and an old signing key. */
export function notices({ late, unsigned, isSignedByFirstKey }: Verification): string[] {
  return [
    late.count > 0 &&
      `${late.count} events were chained more than an hour after they happened, first event ${late.sequence} ${late.eventId}: the worker was not running, or the events were inserted later`,
    unsigned.count > 0 &&
      `${unsigned.count} events have no MAC, first event ${unsigned.sequence} ${unsigned.eventId}: they were recorded before an upgrade`,
    !isSignedByFirstKey &&
      'the newest checkpoint is not signed by the first of SECRET_KEYS: keep the other keys until the worker has signed it again, within a minute',
  ].filter((notice) => notice !== false);
}

function position(raw: string): ChainPosition {
  const [, sequence, hash] = /^(\d{1,15}):([0-9a-f]{64})$/.exec(raw) ?? [];
  if (sequence === undefined || hash === undefined)
    throw new InvalidArgumentError('It must be a sequence and a hash, such as 17:0a1b…');
  return { sequence: Number(sequence), hash };
}
