import { currentActor } from '../../events/actor.ts';
import { record } from '../../events/record.ts';
import { lockOne } from '../../transactions/locks.ts';
import { isSameEmailAddress } from '../../transactions/email-address.ts';
import { reportTaken } from '../../transactions/report-taken.ts';
import { transaction, type TransactionScope } from '../../transactions/transaction.ts';
import type { EntityManager } from '@mikro-orm/postgresql';
import { hashPassword, PASSWORD_LENGTH, requireUncommon } from '../../crypto/password-hash.ts';
import { Account, type ACCOUNT_ROLES } from '../../entities/index.ts';
import { invalidInput, ProblemError } from '../../errors.ts';
import { replaceEmail } from './email.service.ts';
import { revokeSessions } from '../sessions/sessions.service.ts';

export type NewAccount = {
  readonly email: string;
  readonly externalId?: string | undefined;
  readonly firstName?: string | undefined;
  readonly lastName?: string | undefined;
  readonly password?: string | undefined;
  readonly role?: (typeof ACCOUNT_ROLES)[number] | undefined;
  readonly isEmailVerified?: boolean | undefined;
};

/** Creates an account for the operator. The unique index on the email address ignores case. */
export async function createAccount(db: TransactionScope, input: NewAccount): Promise<Account> {
  const passwordHash =
    input.password === undefined ? null : await hashPassword(requireValidPassword(input.password, input.email));
  return reportTaken(uniqueValues(input), () =>
    transaction(db, async (tx) => {
      const account = tx.create(Account, {
        email: input.email,
        externalId: input.externalId ?? null,
        firstName: input.firstName ?? null,
        lastName: input.lastName ?? null,
        role: input.role ?? 'user',
        createdBy: 'operator',
        passwordHash,
        emailVerifiedAt: input.isEmailVerified === true ? new Date() : null,
      });
      record(tx, 'account.created', { accountId: account.id });
      return account;
    }),
  );
}

type Identity = { readonly email?: string | undefined; readonly externalId?: string | null | undefined };

const uniqueValues = ({ email, externalId }: Identity) =>
  ({
    account_email_unique: ['/email', `An account with the address ${email} exists already.`],
    account_external_id_unique: ['/externalId', `An account with the external id ${externalId} exists already.`],
  }) as const;

/** Finds an account by its email address, ignoring case. @returns null if there is none */
export async function findAccountByEmail(em: EntityManager, email: string): Promise<Account | null> {
  const [row] = await em.execute<{ id: string }[]>('select id from account where lower(email) = lower(?)', [email]);
  return row === undefined ? null : em.findOne(Account, row.id);
}

export type AccountChanges = {
  readonly email?: string | undefined;
  /** Whether the operator knows that the owner has the new address. */
  readonly isEmailVerified?: boolean | undefined;
  readonly externalId?: string | null | undefined;
  readonly firstName?: string | null | undefined;
  readonly lastName?: string | null | undefined;
  readonly avatar?: string | null | undefined;
  readonly preferredLocale?: string | null | undefined;
};

/** Changes an account for the operator. Omitted fields keep their value. */
export async function updateAccount(
  db: TransactionScope,
  accountId: string,
  { email, isEmailVerified, ...profile }: AccountChanges,
): Promise<void> {
  await reportTaken(uniqueValues({ email, externalId: profile.externalId }), () =>
    transaction(db, async (tx) => {
      const account = await lockOne(tx, 'account', accountId);
      if (account === null) throw new ProblemError('account_not_found');
      const given = Object.fromEntries(Object.entries(profile).filter(([, value]) => value !== undefined));
      if (Object.keys(given).length > 0) {
        tx.assign(account, given);
        record(tx, 'account.profile_changed', { accountId });
      }
      const verifiedAt = isEmailVerified === true ? new Date() : null;
      if (email !== undefined && !isSameEmailAddress(account.email, email))
        await replaceEmail(tx, account, email, verifiedAt);
      else if (isEmailVerified === true && !account.emailVerifiedAt) {
        account.emailVerifiedAt = verifiedAt;
        record(tx, 'account.email_verified', { accountId });
      }
    }),
  );
}

/** Disables an account and revokes its sessions. Enabling it restores its API keys and grants. */
export async function disableAccount(db: TransactionScope, accountId: string): Promise<Account> {
  return transaction(db, async (tx) => {
    // Lock the account, so that concurrent calls to disable and enable it leave a consistent state.
    const account = await lockOne(tx, 'account', accountId);
    if (account === null) throw new ProblemError('account_not_found');
    account.disabledAt ??= new Date();
    record(tx, 'operator.account_disabled', operatorFields(accountId));
    await revokeSessions(tx, { account: accountId }, 'account disabled');
    return account;
  });
}

export async function enableAccount(db: TransactionScope, accountId: string): Promise<Account> {
  return transaction(db, async (tx) => {
    const account = await lockOne(tx, 'account', accountId);
    if (account === null) throw new ProblemError('account_not_found');
    account.disabledAt = null;
    record(tx, 'operator.account_enabled', operatorFields(accountId));
    return account;
  });
}

/** Revokes all sessions of an account for the operator. @returns their number */
export async function endSessions(db: TransactionScope, accountId: string): Promise<number> {
  return transaction(db, async (tx) => {
    if ((await lockOne(tx, 'account', accountId)) === null) throw new ProblemError('account_not_found');
    return revokeSessions(tx, { account: accountId }, 'ended by the operator');
  });
}

/** Returns the ids of an operator event. On the command line the operator has no account. */
function operatorFields(subjectId: string) {
  const { actorId } = currentActor();
  return { ...(actorId !== null && { accountId: actorId }), subjectId };
}

function requireValidPassword(password: string, email: string): string {
  const { min, max } = PASSWORD_LENGTH;
  const length = Array.from(password).length;
  const detail = `A password has ${min} to ${max} characters.`;
  if (length < min) throw invalidInput('/password', detail, 'min_length', 'body', { min });
  if (length > max) throw invalidInput('/password', detail, 'max_length', 'body', { max });
  requireUncommon(password, email, '/password');
  return password;
}
