import type { Principal } from '../../auth/principal.ts';
import type { Database } from '../../db/database.ts';
import { accountAtOnce, changeAtOnce } from '../../transactions/change-at-once.ts';
import { COLUMNS, presentAccount, type AccountRow } from './me.queries.ts';

const HAS_OTHER_NAMES = '(before.first_name, before.last_name) is distinct from ($4::text, $5::text)';

const updateNames = accountAtOnce<AccountRow>(
  'account_update_names',
  'account.profile_changed',
  (isLive) =>
    `update account a set first_name = $4, last_name = $5,
       updated_at = case when ${HAS_OTHER_NAMES} then now() else a.updated_at end
     from (select id, first_name, last_name from account where id = $1) before
     where a.id = before.id and ${isLive}
     returning ${COLUMNS.replaceAll(/\w+/g, 'a.$&')}, ${HAS_OTHER_NAMES} as is_changed`,
);

type Names = { readonly firstName: string; readonly lastName: string };

export async function updateMe(db: Database, caller: Principal, { firstName, lastName }: Names) {
  const { accountId } = caller;
  const given = { values: [firstName, lastName], fields: { accountId } };
  return presentAccount(await changeAtOnce(db, caller, updateNames, given));
}
