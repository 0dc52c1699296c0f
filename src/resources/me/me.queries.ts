import type { PendingSignUp } from '../../auth/credential-lookups.ts';
import type { Database } from '../../db/database.ts';
import { iso, isoOrNull, query, type QueryRunner } from '../../db/query.ts';
import { recordedCommand, runAndRecord } from '../../events/record.ts';
import { accountCommand, accountCommandRunner } from '../../transactions/account-command.ts';
import type { Principal } from '../../auth/principal.ts';
import { ProblemError } from '../../errors.ts';

type AccountRow = {
  id: string;
  email: string | null;
  first_name: string | null;
  last_name: string | null;
  role: string;
  avatar: string | null;
  preferred_locale: string | null;
  email_verified_at: string | null;
  created_at: string;
  updated_at: string;
};

const COLUMNS =
  'id, email, first_name, last_name, role, avatar, preferred_locale, email_verified_at, created_at, updated_at';

const findAccount = query<AccountRow>('find_account', `select ${COLUMNS} from account where id = $1`);

const updateNames = accountCommand((isLive, suffix) =>
  recordedCommand<AccountRow>(
    `update_account_names_${suffix}`,
    `update account set first_name = $4, last_name = $5, updated_at = now() where id = $1 and ${isLive}
     returning ${COLUMNS}`,
    'account.profile_changed',
  ),
);

export const getMe = async (db: QueryRunner, accountId: string) =>
  presentAccount(await db.query(findAccount, [accountId]));

type Names = { readonly firstName: string; readonly lastName: string };

export async function updateMe(db: Database, caller: Principal, { firstName, lastName }: Names) {
  const { accountId } = caller;
  const runner = accountCommandRunner(db, caller);
  return presentAccount(await runAndRecord(runner, updateNames(caller), [firstName, lastName], { accountId }));
}

/** The profile of a sign-up, which has no account until its email address is verified. */
export const presentSignUp = ({ accountId, email, firstName, lastName, createdAt }: PendingSignUp) => ({
  id: accountId,
  email,
  firstName,
  lastName,
  role: 'user',
  avatar: null,
  preferredLocale: null,
  emailVerified: null,
  createdAt: iso(createdAt),
  updatedAt: iso(createdAt),
});

function presentAccount([row]: AccountRow[]) {
  // The account was deleted after the request was authenticated.
  if (row === undefined) throw new ProblemError('credential_invalid');
  return {
    id: row.id,
    email: row.email,
    firstName: row.first_name,
    lastName: row.last_name,
    role: row.role,
    avatar: row.avatar,
    preferredLocale: row.preferred_locale,
    emailVerified: isoOrNull(row.email_verified_at),
    createdAt: iso(row.created_at),
    updatedAt: iso(row.updated_at),
  };
}
