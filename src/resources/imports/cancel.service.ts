import type { EntityManager } from '@mikro-orm/postgresql';
import { record } from '../../events/record.ts';

export const CANCELED = 'canceled' as const;

/**
 * Ends an import, also one of the command line. Waits for a batch that is being committed; no row is imported
 * afterwards. An import that has ended stays as it is.
 * @param operatorKeyId only imports of this key; all if it is undefined
 * @returns whether it was ended
 */
export async function cancelImport(tx: EntityManager, id: string, operatorKeyId?: string): Promise<boolean> {
  const canceled = await tx.execute<{ is_dry_run: boolean }[]>(
    `update import_run set finished_at = now(), updated_at = now(), failure = '${CANCELED}'
     where id = ? and (?::text is null or operator_key_id = ?) and finished_at is null
       and (operator_key_id is null or received_at is not null)
     returning is_dry_run`,
    [id, operatorKeyId ?? null, operatorKeyId ?? null],
  );
  const [run] = canceled;
  if (run === undefined) return false;
  await tx.execute('delete from import_content where import_id = ?', [id]);
  if (!run.is_dry_run) record(tx, 'operator.import_canceled', { importId: id });
  return true;
}
