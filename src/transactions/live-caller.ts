import type { Principal } from '../auth/principal.ts';
import { liveApiKey, liveFamily, liveGrant, openSession } from '../db/predicates.ts';
import { guardStatement, type CommitGuard } from '../db/pipeline/commit-guard.ts';
import { query } from '../db/query.ts';
import { ProblemError } from '../problems/error.ts';

/** The credential of a caller, which can end while a change waits for a lock. */
export type CallerCredential = Pick<Principal, 'kind' | 'credentialId' | 'tokenFamilyId' | 'sessionId' | 'clientId'>;

type Kind = CallerCredential['kind'] | 'none';

/** The parameters that `credentialValues` returns. Only tokens have a family. */
type Parameters = { readonly credential: string; readonly family: string };

const CONDITIONS: Readonly<Record<Kind, (parameters: Parameters) => string>> = {
  session: ({ credential, family }) =>
    `exists (select from session s where s.id = ${credential} and ${openSession('s')}) and ${family}::text is null`,
  'api-key': ({ credential, family }) =>
    `exists (
       select from api_key k left join oauth_grant g on g.id = k.oauth_grant_id
       where k.id = ${credential} and ${liveApiKey('k')} and (k.oauth_grant_id is null or (${liveGrant('g')})))
     and ${family}::text is null`,
  'oauth-grant': ({ credential, family }) =>
    `exists (
       select from oauth_grant g
       where g.id = ${credential} and ${liveGrant('g')} and (${family}::text is null or exists (
         select from oauth_token_family f where f.id = ${family} and ${liveFamily('f', 'g')})))`,
  none: ({ credential, family }) => `${credential}::text is null and ${family}::text is null`,
};

/**
 * Declares a statement for each kind of credential, with the SQL condition that a caller is still authenticated: the
 * account is not disabled, and the credential neither revoked nor expired. Without a credential, only the account is
 * checked. One statement for all kinds would take PostgreSQL 15 µs more, to prepare what it does not execute.
 * @param declare gets the condition and the end of the name
 * @returns the statement for a credential
 */
export function perCredential<Declared>(
  { account, ...parameters }: Parameters & { readonly account: string },
  declare: (isLive: string, suffix: string) => Declared,
): (credential: CallerCredential | null) => Declared {
  const isEnabled = `exists (select from account a where a.id = ${account} and a.disabled_at is null)`;
  const of = (kind: Kind) =>
    declare(`${isEnabled} and ${CONDITIONS[kind](parameters)}`, `of_${kind.replace('-', '_')}`);
  const declared: Readonly<Record<Kind, Declared>> = {
    session: of('session'),
    'api-key': of('api-key'),
    'oauth-grant': of('oauth-grant'),
    none: of('none'),
  };
  return (credential) => declared[credential?.kind ?? 'none'];
}

/** Returns credential and family, as the conditions of `perCredential` take them. */
export const credentialValues = (credential: CallerCredential | null): readonly (string | null)[] => [
  credential?.credentialId ?? null,
  credential?.tokenFamilyId ?? null,
];

const callerIsLive = perCredential({ account: '$1', credential: '$2', family: '$3' }, (isLive, suffix) =>
  query<{ is_live: boolean }>(`caller_check_live_${suffix}`, `select ${isLive} as is_live`),
);

/** Reads whether a caller is still authenticated. */
export const callerIsLiveStep = (caller: Principal) =>
  [callerIsLive(caller), [caller.accountId, ...credentialValues(caller)]] as const;

/** Whether this transaction has written a row. Who ends their own credential locks it first, while it is live. */
const isOwnChange = (table: string, id: string) =>
  `exists (select from ${table} own where own.id = ${id} and own.xmin = pg_current_xact_id_if_assigned()::xid)`;

const callerAtCommit = perCredential({ account: '$1', credential: '$2', family: '$3' }, (isLive, suffix) =>
  guardStatement(
    `caller_check_at_commit_${suffix}`,
    // The account is locked, so that only this transaction can have deleted it.
    `(${isLive}) or not exists (select from account where id = $1)
     or ${['session', 'api_key', 'oauth_grant'].map((table) => isOwnChange(table, '$2')).join(' or ')}`,
  ),
);

/**
 * Requires with the commit that a caller is still authenticated: the change can have waited for locks after the first ones.
 * What ended by the change itself does not count.
 */
export const callerGuard = (accountId: string, credential: CallerCredential | null): CommitGuard => ({
  step: [callerAtCommit(credential), [accountId, ...credentialValues(credential)]],
  refusal: () => new ProblemError('credential_invalid'),
});

const operatorAtCommit = perCredential({ account: '$1', credential: '$2', family: '$3' }, (isLive, suffix) =>
  guardStatement(`caller_check_operator_at_commit_${suffix}`, isLive),
);
const isOperatorAtCommit = guardStatement(
  'account_check_operator_at_commit',
  `exists (select from account where id = $1 and role = 'admin')`,
);

/** Requires with the commit that a caller is still authenticated, and an operator. */
export const operatorGuards = (caller: Principal): readonly CommitGuard[] => [
  {
    step: [operatorAtCommit(caller), [caller.accountId, ...credentialValues(caller)]],
    refusal: () => new ProblemError('credential_invalid'),
  },
  { step: [isOperatorAtCommit, [caller.accountId]], refusal: () => new ProblemError('route_not_found') },
];

const operatorIsLive = perCredential({ account: '$1', credential: '$2', family: '$3' }, (isLive, suffix) =>
  query<{ is_live: boolean; is_operator: boolean }>(
    `caller_check_operator_${suffix}`,
    `select ${isLive} as is_live, exists (select from account where id = $1 and role = 'admin') as is_operator`,
  ),
);

/** Reads whether a caller is still authenticated, and an operator. */
export const operatorIsLiveStep = (caller: Principal) =>
  [operatorIsLive(caller), [caller.accountId, ...credentialValues(caller)]] as const;
