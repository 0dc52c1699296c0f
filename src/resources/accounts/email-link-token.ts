import type { Principal } from '../../auth/principal.ts';
import { command, query, type QueryRunner, type Step } from '../../db/query.ts';
import type { Account, TokenPurpose } from '../../entities/index.ts';
import { ProblemError } from '../../problems/error.ts';
import { lockOne } from '../../transactions/locks.ts';
import type { Change } from '../../transactions/steps.ts';
import { hashSecret, type Tokens } from '../../crypto/tokens.ts';

const KINDS = {
  verify_email: { secret: 'emailVerification', validHours: 24 },
  change_email: { secret: 'emailVerification', validHours: 24 },
  // At least as long as `LINK_WINDOW`, counted from the sending of the email.
  reset_password: { secret: 'passwordReset', validHours: 1 },
  sign_in: { secret: 'signInLink', validHours: 1 },
} as const satisfies Record<TokenPurpose, unknown>;

const insertToken = command<never>(
  'account_token_insert',
  `insert into account_token (token_hash, account_id, purpose, email, client_id, created_at, expires_at)
   values ($1, $2, $3, $4, $5, now(), now() + make_interval(hours => $6))`,
);

/**
 * Creates the token of an emailed link. Only its hash is stored.
 * @param clientId the application at which the request for the link began
 * @returns the token
 */
export function issueToken(
  tx: Change,
  tokens: Tokens,
  account: Account,
  purpose: TokenPurpose,
  email: string,
  clientId: string | null = null,
): string {
  const { secret, hash } = tokens.generate(KINDS[purpose].secret);
  tx.later([insertToken, [hash, account.id, purpose, email, clientId, KINDS[purpose].validHours]]);
  return secret;
}

const findUsedChange = query<{ email: string }>(
  'account_token_find_used_change',
  `select a.email from account_token t join account a on a.id = t.account_id
   where t.token_hash = $1 and t.account_id = $2 and t.purpose = 'changed_email' and t.expires_at > now()
     and a.email_verified_at is not null and lower(a.email) = lower(t.email)`,
);

/**
 * Returns the address of the session that opens a link by which its account got that address; null for all others. Such a
 * token is kept until it expires, or the address changes again.
 */
export async function findChangedAddress(
  { db, tokens }: { readonly db: QueryRunner; readonly tokens: Tokens },
  principal: Principal | null,
  token: string,
): Promise<string | null> {
  if (principal?.kind !== 'session' || tokens.parseKind(token) !== KINDS.change_email.secret) return null;
  const [row] = await db.query(findUsedChange, [hashSecret(token), principal.accountId]);
  return row?.email ?? null;
}

const keepToken = command<never>(
  'account_token_insert_used',
  `insert into account_token (token_hash, account_id, purpose, email, created_at, expires_at)
   values ($1, $2, 'changed_email', $3, now(), $4::timestamptz)`,
);

/** Keeps the consumed token of a change of address, so that its user can be told what became of it. It changes nothing more. */
export const keepUsedChange = (token: string, { account, email, expiresAt }: ConsumedToken): Step => [
  keepToken,
  [hashSecret(token), account.id, email, expiresAt],
];

const usableToken = query<{ account_id: string; email: string | null; client_id: string | null }>(
  'account_token_find_usable',
  `select t.account_id, a.email, t.client_id from account_token t join account a on a.id = t.account_id
   where t.token_hash = $1 and t.purpose = $2 and t.expires_at > now() and a.disabled_at is null`,
);

const consumeRow = command<{ email: string; expires_at: string }>(
  'account_token_consume',
  'delete from account_token where token_hash = $1 and purpose = $2 and expires_at > now() returning email, expires_at',
);

/** Returns the account of a valid link without consuming the token. @throws link_invalid */
export async function peekToken(
  db: QueryRunner,
  tokens: Tokens,
  purpose: TokenPurpose,
  token: string,
): Promise<{ accountId: string; accountEmail: string | null; clientId: string | null }> {
  if (tokens.parseKind(token) !== KINDS[purpose].secret) throw new ProblemError('link_invalid');
  const [row] = await db.query(usableToken, [hashSecret(token), purpose]);
  if (row === undefined) throw new ProblemError('link_invalid');
  return { accountId: row.account_id, accountEmail: row.email, clientId: row.client_id };
}

type ConsumedToken = { readonly account: Account; readonly email: string; readonly expiresAt: string };

/**
 * Consumes a token; of concurrent calls only one succeeds. Locks the account first (see LOCK_ORDER).
 * @throws link_invalid
 */
export async function consumeToken(
  tx: Change,
  tokens: Tokens,
  purpose: TokenPurpose,
  token: string,
): Promise<ConsumedToken> {
  const { accountId } = await peekToken(tx, tokens, purpose, token);
  const account = await lockOne(tx, 'account', accountId);
  const used = (await tx.run([[consumeRow, [hashSecret(token), purpose]]]))[0][0];
  if (account === null || used === undefined) throw new ProblemError('link_invalid');
  return { account, email: used.email, expiresAt: used.expires_at };
}

/** Deletes the unused links of an account; all purposes by default. */
export const deleteTokens = (tx: Change, accountId: string, purposes?: readonly TokenPurpose[]): void =>
  tx.later([deleteTokensOf, [accountId, purposes?.join(' ') ?? null]]);

const deleteTokensOf = command<never>(
  'account_token_delete_of_account',
  `delete from account_token where account_id = $1 and ($2::text is null or purpose = any(string_to_array($2, ' ')))`,
);
