import type { Operator } from '../../auth/principal.ts';
import { recordNow } from '../../transactions/record-now.ts';
import type { Context } from '../../procedures/context.ts';

type Viewer = Pick<Context, 'services' | 'operatorReads' | 'address' | 'requestIds'> & { readonly operator: Operator };
type Seen =
  | { readonly accountId: string }
  | { readonly teamId: string }
  /** The account that the audit log was filtered by, if it was. */
  | { readonly auditOf: string | undefined }
  | { readonly found: readonly { readonly id: string }[] };

/** More ids are too long for the details of one event. */
const FOUND_MAX = 50;

/**
 * Records what data of users an operator was shown: at once if the operator is signed in; the views of an operator key
 * are counted, and written later.
 */
export async function recordView(
  { services: { db }, operator, operatorReads, address, requestIds }: Viewer,
  seen: Seen,
): Promise<void> {
  if (operator.kind === 'operator-key') {
    if ('accountId' in seen || 'teamId' in seen)
      operatorReads.note({ credentialId: operator.credentialId, address, of: seen }, requestIds);
    return;
  }
  const { accountId } = operator;
  if ('accountId' in seen) return recordNow(db, 'operator.account_viewed', { accountId, subjectId: seen.accountId });
  if ('teamId' in seen) return recordNow(db, 'operator.team_viewed', { accountId, teamId: seen.teamId });
  if ('auditOf' in seen)
    return recordNow(db, 'operator.audit_log_viewed', { accountId, ...(seen.auditOf && { subjectId: seen.auditOf }) });
  const found = seen.found.map(({ id }) => id);
  for (let from = 0; from === 0 || from < found.length; from += FOUND_MAX)
    await recordNow(db, 'operator.searched', { accountId, found: found.slice(from, from + FOUND_MAX) });
}
