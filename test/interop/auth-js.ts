type Provider = {
  readonly id: string;
  readonly name: string;
  readonly type: 'oidc';
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly checks: readonly ('pkce' | 'state' | 'nonce')[];
};
type Claims = Record<string, unknown>;

/** What these tests use of Auth.js. */
export type AuthConfig = {
  readonly basePath: string;
  readonly secret: string;
  readonly trustHost: boolean;
  readonly useSecureCookies: boolean;
  readonly logger: { error(): void; warn(): void };
  readonly providers: readonly Provider[];
  readonly callbacks: {
    jwt(given: { token: Claims; profile?: Claims }): Claims;
    session(given: { session: Claims; token: Claims }): Claims;
  };
};

type AuthJs = {
  /** The name of the `fetch` of a provider. */
  readonly customFetch: symbol;
  readonly Auth: (request: Request, config: AuthConfig) => Promise<Response>;
};

// By a name that the compiler does not follow: the types of the package are those of a browser, for all files.
const NAME: string = '@auth/core';
export const { Auth, customFetch } = (await import(NAME)) as AuthJs;
