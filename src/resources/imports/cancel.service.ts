import { command } from '../../db/query.ts';
import type { OperatorCaller } from '../../transactions/caller.ts';
import { change } from '../../transactions/change.ts';
import type { TransactionScope } from '../../transactions/steps.ts';

export const CANCELED = 'canceled' as const;

const cancelRun = command<{ is_dry_run: boolean }>(
  'import_run_update_canceled',
  `update import_run set finished_at = now(), updated_at = now(), failure = '${CANCELED}'
   where id = $1 and ($2::text is null or operator_key_id = $2) and finished_at is null
     and (operator_key_id is null or received_at is not null)
   returning is_dry_run`,
);

const deleteContent = command<never>('import_content_delete_of_run', 'delete from import_content where import_id = $1');

/**
 * Ends an import, also one of the command line. Waits for a batch that is being committed; no row is imported
 * afterwards. An import that has ended stays as it is.
 * @param operatorKeyId only imports of this key; all if it is undefined
 * @returns whether it was ended
 */
export const cancelImport = (
  db: TransactionScope,
  caller: OperatorCaller | 'system',
  id: string,
  operatorKeyId?: string,
): Promise<boolean> =>
  change(db, caller, { on: 'installation', requires: 'operator' }, async ({ run, later, record }) => {
    const [[canceled]] = await run([[cancelRun, [id, operatorKeyId ?? null]]]);
    if (canceled === undefined) return false;
    later([deleteContent, [id]]);
    if (!canceled.is_dry_run) record('operator.import_canceled', { importId: id });
    return true;
  });
