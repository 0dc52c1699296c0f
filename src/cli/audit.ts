import { InvalidArgumentError, Option, type Command } from 'commander';
import { EXPORT_FORMATS, exportEvents, type ExportFormat } from '../resources/audit-log/export.ts';
import { describeFault } from '../events/chain/faults.ts';
import { verifyAudit, type KnownPosition, type Verification } from '../events/chain/verify.ts';
import { withServices } from './operate.ts';
import { instant, option, required } from './options.ts';
import { printExport } from './output.ts';

type ExportOptions = { format: ExportFormat; team?: string; from?: Date; to?: Date };

export function auditCommands(audit: Command): void {
  audit
    .command('verify')
    .description('Verify the audit log and report every inconsistency')
    .addOption(
      option('--known <sequence:hash:root>', 'a checkpoint from the log that the chain must still contain', position),
    )
    .action(
      withServices(async (services, { known }: { known?: KnownPosition }) => {
        const found = await verifyAudit(services, known);
        const { faults, events, pending, end, root } = found;
        const json = { ok: faults.length === 0, ...found };
        if (faults.length > 0) {
          const failure = `the audit log is broken: ${faults.map(describeFault).join('; ')}`;
          return { json, lines: [`${events} events before the first fault are verified.`], failure };
        }
        const text = `${events} events verified, ${pending} not chained yet. The chain ends at ${end.sequence}:${end.hash}:${root.sequence}`;
        return { json, lines: [text, ...notices(found)] };
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
      withServices(({ db }, { format, team, from, to }: ExportOptions, command) =>
        printExport(command, exportEvents(db, format, { teamId: team, from, to })),
      ),
    );
}

/** Returns notices about a log without faults: late and unsigned events, and an old signing key. */
export function notices({ late, unsigned, isSignedByFirstKey, isRootSigned }: Verification): string[] {
  return [
    !isRootSigned &&
      'the beginning of the chain is not signed yet: start the service, which signs it with the next event',
    late.count > 0 &&
      `${late.count} events were chained more than an hour after they happened, first event ${late.sequence} ${late.eventId}: the worker was not running, or the events were inserted later`,
    unsigned.count > 0 &&
      `${unsigned.count} events have no MAC, first event ${unsigned.sequence} ${unsigned.eventId}: they were recorded before an upgrade`,
    !isSignedByFirstKey &&
      'the newest checkpoint is not signed by the first of SECRET_KEYS: keep the other keys until the worker has signed it again, within a minute',
  ].filter((notice) => notice !== false);
}

function position(raw: string): KnownPosition {
  const [, sequence, hash, root] = /^(\d{1,15}):([0-9a-f]{64})(?::(\d{1,15}))?$/.exec(raw) ?? [];
  if (sequence === undefined || hash === undefined)
    throw new InvalidArgumentError('It must be a sequence, a hash and a root, such as 17:0a1b…:0');
  return { sequence: Number(sequence), hash, ...(root !== undefined && { root: Number(root) }) };
}
