import type { Principal } from '../auth/principal.ts';
import { liveApiKey, liveGrant, openSession } from '../db/predicates.ts';
import { query } from '../db/query.ts';

/** The credential of a caller, which can end while a change waits for a lock. */
export type CallerCredential = Pick<Principal, 'kind' | 'credentialId' | 'tokenFamilyId'>;

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
    `exists (select from oauth_grant g where g.id = ${credential} and ${liveGrant('g')})
     and (${family}::text is null or exists (select from oauth_token_family f where f.id = ${family}))`,
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
  query<{ is_live: boolean }>(`caller_is_live_${suffix}`, `select ${isLive} as is_live`),
);

/** Reads whether a caller is still authenticated. */
export const callerIsLiveStep = (caller: Principal) =>
  [callerIsLive(caller), [caller.accountId, ...credentialValues(caller)]] as const;

const operatorIsLive = perCredential({ account: '$1', credential: '$2', family: '$3' }, (isLive, suffix) =>
  query<{ is_live: boolean; is_operator: boolean }>(
    `operator_is_live_${suffix}`,
    `select ${isLive} as is_live, exists (select from account where id = $1 and role = 'admin') as is_operator`,
  ),
);

/** Reads whether a caller is still authenticated, and an operator. */
export const operatorIsLiveStep = (caller: Principal) =>
  [operatorIsLive(caller), [caller.accountId, ...credentialValues(caller)]] as const;
