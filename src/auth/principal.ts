import type { OperatorScope, Permission, ProductPermission, Scope } from '../entities/index.ts';

/** The authenticated caller. Code after authentication uses this, never the credential. */
export type Principal = {
  readonly kind: 'api-key' | 'oauth-grant' | 'session';
  /** The API key's, grant's or session's id: the rate limit's bucket and the name in the log. */
  readonly credentialId: string;
  readonly accountId: string;
  /** The only team that a team credential gives access to; null for every team of the account. */
  readonly teamId: string | null;
  /** The token family of an access token: an API key that it creates ends with it. */
  readonly tokenFamilyId?: string | null;
  /** The session that a first-party token belongs to; null for other tokens. */
  readonly sessionId?: string | null;
  /** The OAuth client of an access token, or of the grant through which an API key was created. */
  readonly clientId?: string | null;
  /** The scopes enforced, in the order of the specification. */
  readonly scopes: readonly Scope[];
  /** What it can have of what the role holds of the product; null for sessions and first-party tokens, which have all. */
  readonly productLimit: readonly ProductPermission[] | null;
};

/** An operator key. It acts for the installation and for no account, so it is no `Principal`. */
export type OperatorPrincipal = {
  readonly kind: 'operator-key';
  readonly credentialId: string;
  readonly scopes: readonly OperatorScope[];
};

/** Who performs an operation of the operator API: an operator key, or an operator who is signed in to the console. */
export type Operator = OperatorPrincipal | Principal;

/** The caller's active membership of the team named in the request, with the team's details. */
export type ActiveMembership = {
  readonly id: string;
  readonly accountId: string;
  readonly role: { readonly id: string; readonly name: string };
  readonly permissions: readonly Permission[];
  /** What the role holds of the operator’s product, whatever the credential is limited to. */
  readonly productPermissions: readonly ProductPermission[];
  readonly team: {
    readonly id: string;
    readonly name: string;
    readonly slug: string;
    readonly description: string | null;
    readonly avatarUrl: string | null;
  };
};
