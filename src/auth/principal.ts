import type { Permission, Scope } from '../entities/index.ts';

/**
 * Who is calling, whatever kind of credential said so. After authentication nobody sees the
 * credential itself, only this.
 */
export type Principal = {
  readonly kind: 'api-key' | 'oauth-grant' | 'session';
  /** The API key's, grant's or session's id: the rate limit's bucket and the name in the log. */
  readonly credentialId: string;
  readonly accountId: string;
  /** The one team a team credential reaches; null reaches every team of the account. */
  readonly teamId: string | null;
  /** The scopes enforced, in the order of the specification. */
  readonly scopes: readonly Scope[];
};

/** The caller's active membership of the team a call is about, with what an answer needs of the team. */
export type ActiveMembership = {
  readonly id: string;
  readonly accountId: string;
  readonly role: { readonly id: string; readonly name: string };
  readonly permissions: readonly Permission[];
  readonly team: {
    readonly id: string;
    readonly name: string;
    readonly slug: string;
    readonly description: string | null;
    readonly avatarUrl: string | null;
  };
};
