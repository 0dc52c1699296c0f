import { currentActor } from '../../events/actor.ts';
import { assignChanged } from '../../transactions/assign-changed.ts';
import { ABANDONED, endPrivilegedOf } from '../invitations/end-invitations.ts';
import type { OperatorCaller } from '../../transactions/caller.ts';
import { isMoved, isSameEmailAddress } from '../../transactions/email-address.ts';
import { requireChangeable } from '../../transactions/operator-caller.ts';
import type { Services } from '../../service/services.ts';
import { reportTaken } from '../../transactions/report-taken.ts';
import { change } from '../../transactions/change.ts';
import type { Change, TransactionScope } from '../../transactions/steps.ts';
import { requireUncommon, type PasswordContext } from '../../crypto/common-passwords.ts';
import { hashPassword, PASSWORD_LENGTH } from '../../crypto/password-hash.ts';
import { Account, type ACCOUNT_ROLES } from '../../entities/index.ts';
import { notify, notifyOperators } from '../../jobs/notify.ts';
import { invalidInput } from '../../problems/error.ts';
import { confirmMove, replaceEmail } from './email.service.ts';
import { revokeSessions } from '../sessions/sessions.service.ts';
import { enqueueRequest } from '../sign-in/requested-link.ts';

type Operating = OperatorCaller | 'system';

export type NewAccount = {
  readonly email: string;
  readonly externalId?: string | undefined;
  readonly firstName?: string | undefined;
  readonly lastName?: string | undefined;
  readonly avatar?: string | undefined;
  readonly preferredLocale?: string | null | undefined;
  readonly password?: string | undefined;
  readonly role?: (typeof ACCOUNT_ROLES)[number] | undefined;
  readonly isEmailVerified?: boolean | undefined;
};

/** Creates an account for the operator. The unique index on the email address ignores case. */
export async function createAccount(
  db: TransactionScope,
  caller: Operating,
  { brand }: { readonly brand: { readonly name: string } },
  input: NewAccount,
): Promise<Account> {
  const { email, password } = input;
  const context = { email, brandName: brand.name };
  const passwordHash = password === undefined ? null : await hashPassword(requireValidPassword(password, context));
  return reportTaken(uniqueValues(input), () =>
    change(db, caller, { on: 'installation', requires: 'operator' }, async (tx) => {
      const account = tx.em.create(Account, {
        email: input.email,
        externalId: input.externalId ?? null,
        firstName: input.firstName ?? null,
        lastName: input.lastName ?? null,
        avatar: input.avatar ?? null,
        preferredLocale: input.preferredLocale ?? null,
        role: input.role ?? 'user',
        createdBy: 'operator',
        passwordHash,
        emailVerifiedAt: input.isEmailVerified === true ? new Date() : null,
      });
      tx.record('account.created', { accountId: account.id });
      await notifyIfOperator(tx, account);
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
  caller: Operating,
  services: Pick<Services, 'encryption'>,
  accountId: string,
  { email, isEmailVerified, ...profile }: AccountChanges,
): Promise<void> {
  await reportTaken(uniqueValues({ email, externalId: profile.externalId }), () =>
    change(db, caller, { on: { account: accountId }, requires: 'operator' }, async (tx) => {
      // By these an account is found, and proves who it is.
      const identity = [email, isEmailVerified, profile.externalId];
      if (identity.some((field) => field !== undefined)) requireChangeable(caller, tx.account);
      const account = await tx.em.findOneOrFail(Account, accountId);
      // Another spelling is no other address.
      const isSpelling = email !== undefined && isSameEmailAddress(account.email, email);
      if (assignChanged(account, { ...profile, ...(isSpelling && { email }) }).length > 0)
        tx.record('account.profile_changed', { accountId });
      const verifiedAt = isEmailVerified === true ? new Date() : null;
      if (email !== undefined && !isSpelling) await moveTo(tx, services, account, { email, verifiedAt });
      else if (isEmailVerified === true && isMoved(account)) await confirmMove(tx, account);
      else if (isEmailVerified === true && !account.emailVerifiedAt) {
        account.emailVerifiedAt = verifiedAt;
        tx.record('account.email_verified', { accountId });
      }
    }),
  );
}

/** Changes the address. The new mailbox of an account that was proven gets a link by which its user proves it. */
async function moveTo(
  tx: Change,
  services: Pick<Services, 'encryption'>,
  account: Account,
  { email, verifiedAt }: { readonly email: string; readonly verifiedAt: Date | null },
): Promise<void> {
  await replaceEmail(tx, account, email, verifiedAt);
  if (isMoved(account)) await enqueueRequest(tx, services, { language: null }, { kind: 'verify_email', email });
}

/**
 * Disables an account, revokes its sessions and ends its invitations to privileged roles. Enabling it restores its API keys
 * and grants.
 */
export const disableAccount = (db: TransactionScope, caller: Operating, accountId: string): Promise<Account> =>
  change(db, caller, { on: { account: accountId }, requires: 'operator' }, async (tx) => {
    requireChangeable(caller, tx.account);
    const account = await tx.em.findOneOrFail(Account, accountId);
    if (!account.disabledAt) tx.record('operator.account_disabled', operatorFields(accountId));
    account.disabledAt ??= new Date();
    await revokeSessions(tx, { account: accountId }, 'account disabled');
    await endPrivilegedOf(tx, accountId, { reason: ABANDONED });
    return account;
  });

export const enableAccount = (db: TransactionScope, caller: Operating, accountId: string): Promise<Account> =>
  change(db, caller, { on: { account: accountId }, requires: 'operator' }, async (tx) => {
    requireChangeable(caller, tx.account);
    const account = await tx.em.findOneOrFail(Account, accountId);
    const wasDisabled = Boolean(account.disabledAt);
    if (wasDisabled) tx.record('operator.account_enabled', operatorFields(accountId));
    account.disabledAt = null;
    if (wasDisabled) {
      await notify(tx, accountId, { kind: 'account_enabled' });
      await notifyIfOperator(tx, account);
    }
    return account;
  });

/** Notifies the other operators of an account that becomes an operator, in whichever way. */
async function notifyIfOperator(tx: Change, { id, role, email }: Account): Promise<void> {
  if (role === 'admin') await notifyOperators(tx, { kind: 'operator_added', thing: email ?? undefined }, id);
}

/** Revokes all sessions of an account for the operator. @returns their number */
export const endAllSessions = (db: TransactionScope, caller: Operating, accountId: string): Promise<number> =>
  change(db, caller, { on: { account: accountId }, requires: 'operator' }, (tx) =>
    revokeSessions(tx, { account: accountId }, 'ended by the operator'),
  );

/** Returns the ids of an operator event. On the command line the operator has no account. */
function operatorFields(subjectId: string) {
  const { actorId } = currentActor();
  return { ...(actorId !== null && { accountId: actorId }), subjectId };
}

function requireValidPassword(password: string, context: PasswordContext): string {
  const { min, max } = PASSWORD_LENGTH;
  const length = Array.from(password).length;
  const detail = `A password has ${min} to ${max} characters.`;
  if (length < min) throw invalidInput('/password', detail, 'min_length', 'body', { min });
  if (length > max) throw invalidInput('/password', detail, 'max_length', 'body', { max });
  requireUncommon(password, context, '/password');
  return password;
}
