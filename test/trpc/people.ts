import { inChange } from '../support/in-change.ts';
import { randomBytes } from 'node:crypto';
import { onTestFinished } from 'vitest';
import { hashPassword } from '../../src/crypto/password-hash.ts';
import { hashSecret } from '../../src/crypto/tokens.ts';
import { newId } from '../../src/entities/index.ts';
import { enqueue } from '../../src/jobs/enqueue.ts';
import { startApi, type Api } from '../support/api.ts';
import { cookieName, problemOf, type Visitor } from '../support/browser.ts';
import { tokenIn } from '../support/mailbox.ts';
import { PATIENCE_MS } from '../support/patience.ts';

export const PASSWORD = 'wandering heron 42';
export const OTHER_PASSWORD = 'quiet lighthouse 7';

/** An address that nobody else has. */
export const anAddress = (): string => `p-${randomBytes(6).toString('hex')}@example.com`;

/** A service of the test's own, with settings of its own. */
export async function aService(settings: Record<string, string>): Promise<Api> {
  const api = await startApi(settings);
  onTestFinished(() => api.close());
  return api;
}

let hashed: Promise<string> | undefined;

/** A hash of PASSWORD, computed once: it takes longer than most tests. */
export const passwordHash = (): Promise<string> => (hashed ??= hashPassword(PASSWORD));

/** An account with a password, made past the sign-up. */
export async function aPerson(api: Api, { isVerified = true }: { isVerified?: boolean } = {}) {
  const account = await api.anAccount({ email: anAddress() });
  await api.rows('update account set password_hash = $2, email_verified_at = $3 where id = $1', [
    account.id,
    await passwordHash(),
    isVerified ? new Date() : null,
  ]);
  return account;
}

/** Somebody with a password in a browser that is signed in, not for the first time. */
export async function aSignedIn(api: Api, options?: { isVerified?: boolean }) {
  const account = await aPerson(api, options);
  const visitor = api.visitor();
  const device = randomBytes(32).toString('base64url');
  visitor.cookies.set(cookieName('device', visitor.baseUrl), device);
  await api.rows(
    `insert into known_device (id, account_id, token_hash, created_at, last_seen_at) values ($1, $2, $3, now(), now())`,
    [newId('dev'), account.id, hashSecret(device)],
  );
  await signIn(visitor, account.email);
  return { ...account, visitor };
}

export const signIn = (visitor: Visitor, email: string, password = PASSWORD) =>
  visitor.trpc.auth.signIn.mutate({ email, password });

/** `ok`, or the code of the problem. */
export const codeOf = (call: Promise<unknown>): Promise<string> =>
  call.then(
    () => 'ok',
    async () => (await problemOf(call)).code,
  );

/** The token in the latest mail to an address that is about something. */
export const tokenTo = async (api: Api, address: string, about: RegExp): Promise<string> =>
  tokenIn(await api.mailTo(address, about));

/** Waits, within a bound, until every mail that is due has left. */
export async function allMailed(api: Api): Promise<void> {
  const to = anAddress();
  const mail = { kind: 'password_changed' as const, accountId: to, to };
  await inChange(api.services.db, (tx) => enqueue(tx, 'sendAccountMail', mail, to));
  await api.mailTo(to);
  for (
    const deadline = Date.now() + PATIENCE_MS;
    Date.now() < deadline;
    await new Promise((resolve) => setTimeout(resolve, 20))
  ) {
    const due = await api.rows(
      `select 1 from graphile_worker.jobs where task_identifier = 'sendRequestedLink'
         or task_identifier in ('sendInvitation', 'sendAccountMail') and run_at <= now() + interval '2 seconds'`,
    );
    if (due.length === 0) return;
  }
  throw new Error('Mails are still waiting.');
}

/** The row of an address. */
export async function accountAt(api: Api, email: string) {
  const [row] = await api.rows<Record<string, string | null>>('select * from account where lower(email) = lower($1)', [
    email,
  ]);
  return row;
}
