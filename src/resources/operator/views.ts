import type { Services } from '../../app-services.ts';
import type { Operator } from '../../auth/principal.ts';
import { recordNow } from '../../events/record.ts';

type Viewer = { readonly services: Services; readonly operator: Operator };
type Seen =
  | { readonly accountId: string }
  | { readonly teamId: string }
  /** The account that the audit log was filtered by, if it was. */
  | { readonly auditOf: string | undefined }
  | { readonly found: readonly { readonly id: string }[] };

/** More ids are too long for the details of one event. */
const FOUND_MAX = 50;

/** Records what data of users a signed-in operator was shown. Reads of operator keys are in the request log alone. */
export async function recordView({ services: { db }, operator }: Viewer, seen: Seen): Promise<void> {
  if (operator.kind === 'operator-key') return;
  const { accountId } = operator;
  if ('accountId' in seen) return recordNow(db, 'operator.account_viewed', { accountId, subjectId: seen.accountId });
  if ('teamId' in seen) return recordNow(db, 'operator.team_viewed', { accountId, teamId: seen.teamId });
  if ('auditOf' in seen)
    return recordNow(db, 'operator.audit_log_viewed', { accountId, ...(seen.auditOf && { subjectId: seen.auditOf }) });
  const found = seen.found.map(({ id }) => id);
  for (let from = 0; from === 0 || from < found.length; from += FOUND_MAX)
    await recordNow(db, 'operator.searched', { accountId, found: found.slice(from, from + FOUND_MAX) });
}
