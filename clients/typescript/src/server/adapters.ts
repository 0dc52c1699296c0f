import type { AnyPermission } from '../permissions.ts';
import { RosterAccessError } from './errors.ts';
import type { RosterAuth } from './roster-auth.ts';
import type { RosterSession } from './sessions.ts';

/** A request of Node.js, as Express and Fastify have it. */
type NodeRequest = {
  readonly method?: string | undefined;
  readonly url?: string | undefined;
  readonly originalUrl?: string | undefined;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** What a parser has read of the body. */
  readonly body?: unknown;
  [Symbol.asyncIterator](): AsyncIterator<Uint8Array>;
};

type NodeResponse = {
  statusCode: number;
  appendHeader(name: string, value: string | string[]): unknown;
  end(body?: Uint8Array): unknown;
};

/** The largest body of a call of a procedure. */
const BODY_BYTES_MAX = 1024 * 1024;

/**
 * Returns a request of Node.js as one of `fetch`, with its body if `hasBody`.
 * @throws RosterAccessError (400) if it cannot be one, such as with a `Host` that no URL can have
 */
export async function toFetchRequest(request: NodeRequest, hasBody = false): Promise<Request> {
  const { method = 'GET', originalUrl, url = '/' } = request;
  const headers = new Headers();
  for (const [name, value] of Object.entries(request.headers))
    for (const each of typeof value === 'string' ? [value] : (value ?? []))
      if (!name.startsWith(':')) headers.append(name, each);
  const body = hasBody && method !== 'GET' && method !== 'HEAD' ? await readBody(request) : null;
  try {
    const address = new URL(`http://${request.headers['host'] as string}${originalUrl ?? url}`); // HTTP/1.1 requires it
    return new Request(address, { method, headers, body: body as string | null });
  } catch (cause) {
    throw new RosterAccessError(400, 'invalid_request', 'The address or the method is not valid.', { cause });
  }
}

async function readBody(request: NodeRequest): Promise<Uint8Array | string> {
  // A parser before the kit has read it.
  if (request.body !== undefined)
    return typeof request.body === 'string'
      ? request.body
      : encodeParsed(request.body, request.headers['content-type']);
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of request) {
    length += chunk.length;
    if (length > BODY_BYTES_MAX) throw new RosterAccessError(413, 'body_too_large', 'The body is too large.');
    chunks.push(chunk);
  }
  const body = new Uint8Array(length);
  let at = 0;
  for (const chunk of chunks) {
    body.set(chunk, at);
    at += chunk.length;
  }
  return body;
}

const encodeParsed = (body: unknown, type: string | string[] | undefined): string =>
  String(type).startsWith('application/x-www-form-urlencoded')
    ? new URLSearchParams(body as Record<string, string>).toString() // what a parser makes of a form
    : JSON.stringify(body);

/** Sends a response of `fetch` as one of Node.js. */
async function send(response: Response, to: NodeResponse): Promise<void> {
  to.statusCode = response.status;
  for (const [name, value] of response.headers) if (name !== 'set-cookie') to.appendHeader(name, value);
  const cookies = response.headers.getSetCookie();
  if (cookies.length > 0) to.appendHeader('set-cookie', cookies);
  to.end(new Uint8Array(await response.arrayBuffer()));
}

const isOwnPath = (auth: RosterAuth, url: string): boolean =>
  [auth.path, auth.trpcPath].some((path) => url.startsWith(`${path}/`));

/**
 * Creates the middleware of Express: `app.use(roster)` answers the kit's own routes, and `roster.session` and
 * `roster.permission('invoices:write')` let in who is signed in or has the permission, as `req.session`'s replacement
 * `req.roster`.
 */
export function toExpress(auth: RosterAuth) {
  type Next = (error?: unknown) => void;
  type Handler = (request: NodeRequest, response: NodeResponse, next: Next) => Promise<void>;

  const letIn =
    (check: (request: Request) => Promise<RosterSession>): Handler =>
    async (request, response, next) => {
      try {
        const session = await check(await toFetchRequest(request));
        if (session.setCookies.length > 0) response.appendHeader('set-cookie', [...session.setCookies]);
        Object.assign(request, { roster: session });
      } catch (error) {
        if (!(error instanceof RosterAccessError)) return next(error);
        return send(auth.respond(error), response);
      }
      next();
    };

  const routes: Handler = async (request, response, next) => {
    try {
      const url = request.originalUrl ?? request.url ?? '/';
      const answer = isOwnPath(auth, url) ? await auth.handle(await toFetchRequest(request, true)) : undefined;
      if (answer !== undefined) return await send(answer, response);
    } catch (error) {
      return error instanceof RosterAccessError ? await send(error.toResponse(), response) : next(error);
    }
    next();
  };

  return Object.assign(routes, {
    session: letIn((request) => auth.requireSession(request)),
    permission: (permission: AnyPermission) => letIn((request) => auth.requirePermission(request, permission)),
  });
}

/** What a plugin of Fastify uses of it. */
type FastifyLike = {
  removeAllContentTypeParsers(): unknown;
  addContentTypeParser(
    type: string,
    parse: (request: unknown, payload: unknown, done: (error: null) => void) => void,
  ): unknown;
  all(path: string, handler: (request: { raw: NodeRequest }, reply: FastifyReplyLike) => Promise<unknown>): unknown;
};
type FastifyReplyLike = { hijack(): unknown; raw: NodeResponse };

/** Creates a plugin of Fastify that answers the kit's own routes: `await app.register(toFastify(auth))`. */
export const toFastify = (auth: RosterAuth) => async (app: FastifyLike) => {
  // Bodies go to Roster as they are.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', (_request, _payload, done) => done(null));
  for (const path of [auth.path, auth.trpcPath])
    app.all(`${path}/*`, async (request, reply) => {
      // Fastify answers what is thrown here.
      const answer = await toFetchRequest(request.raw, true)
        .then((asked) => auth.handle(asked))
        .catch((error: unknown) => {
          if (error instanceof RosterAccessError) return error.toResponse();
          throw error;
        });
      reply.hijack();
      await send(answer ?? new Response(null, { status: 404 }), reply.raw);
      return reply;
    });
};

/** What a middleware of Hono uses of its context. */
type HonoContextLike = {
  readonly req: { readonly raw: Request };
  set(name: 'roster', session: RosterSession | null): void;
  header(name: string, value: string, options: { append: true }): void;
};

/** Creates a middleware of Hono: it answers the kit's own routes, and sets `roster`, the session or null, for all others. */
export const toHono =
  (auth: RosterAuth) =>
  async (context: HonoContextLike, next: () => Promise<void>): Promise<Response | void> => {
    const answer = await auth.handle(context.req.raw);
    if (answer !== undefined) return answer;
    try {
      const session = await auth.getSession(context.req.raw);
      context.set('roster', session);
      for (const cookie of session?.setCookies ?? []) context.header('set-cookie', cookie, { append: true });
    } catch (error) {
      return auth.respond(error);
    }
    await next();
  };

/** Creates the handlers of a route of Next, for `app/auth/[...path]/route.ts` and `app/roster/trpc/[...path]/route.ts`. */
export function toNext(auth: RosterAuth) {
  const handle = async (request: Request): Promise<Response> =>
    (await auth.handle(request)) ?? new Response(null, { status: 404 });
  return { GET: handle, POST: handle };
}
