import type { PendingSignUp } from '../../auth/find-credential.ts';
import { iso, isoOrNull, query, type QueryRunner } from '../../db/query.ts';
import { ProblemError } from '../../problems/error.ts';

export type AccountRow = {
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

/** The columns of an account that its profile shows. */
export const ACCOUNT_COLUMNS =
  'id, email, first_name, last_name, role, avatar, preferred_locale, email_verified_at, created_at, updated_at';

const findAccount = query<AccountRow>('account_find', `select ${ACCOUNT_COLUMNS} from account where id = $1`);

export const accountStep = (accountId: string) => [findAccount, [accountId]] as const;

export const getMe = async (db: QueryRunner, accountId: string) =>
  presentAccount(await db.query(...accountStep(accountId)));

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

export function presentAccount([row]: AccountRow[]) {
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
