/** What these tests use of the packages that only `npm run test:interop` installs. */
declare module '@edge-runtime/vm' {
  export class EdgeVM {
    evaluate<Result>(code: string): Result;
  }
}

declare module 'svix' {
  export class Webhook {
    constructor(secret: string);
    verify(payload: string, headers: Record<string, string>): unknown;
  }
}

declare module 'fastify' {
  import type { IncomingMessage } from 'node:http';

  type App = {
    register(plugin: unknown): Promise<void>;
    get(
      path: string,
      handle: (
        request: { raw: IncomingMessage },
        reply: { code(status: number): { send(body: object): unknown } },
      ) => Promise<unknown>,
    ): void;
    listen(options: { host: string; port: number }): Promise<string>;
    close(): Promise<void>;
  };
  export default function Fastify(): App;
}

declare module 'hono' {
  export class Hono<Env extends { Variables: object }> {
    use(middleware: unknown): void;
    get(
      path: string,
      handle: (context: {
        get<Name extends keyof Env['Variables']>(name: Name): Env['Variables'][Name];
        json(body: object, status?: number): Response;
      }) => Response,
    ): void;
    fetch(request: Request): Response | Promise<Response>;
  }
}

declare module 'express-session' {
  import type { RequestHandler } from 'express';

  export default function sessions(options: {
    secret: string;
    resave: boolean;
    saveUninitialized: boolean;
  }): RequestHandler;
}

declare module 'passport' {
  import type { RequestHandler } from 'express';

  class Passport {
    use(strategy: unknown): void;
    initialize(): RequestHandler;
    authenticate(strategy: string, options: { session: boolean }): RequestHandler;
  }
  const passport: { Passport: typeof Passport };
  export default passport;
}

declare module 'passport-openidconnect' {
  export type Request = { session: { verifier?: string } };
  type Exchange = (code: string, params: object, done: () => void) => void;
  type Verify = (
    issuer: string,
    fromUserinfo: object,
    fromIdToken: object,
    context: object,
    idToken: string,
    accessToken: string,
    refreshToken: string,
    params: object,
    done: (error: null, user: object) => void,
  ) => void;

  export default class Strategy {
    constructor(options: object, verify: Verify);
    protected _oauth2: { getOAuthAccessToken: Exchange };
    protected authorizationParams(options: object): object;
    authenticate(request: Request, options: object): void;
  }
}
