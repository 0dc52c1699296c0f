import type { AnyPermission } from '../permissions.ts';
import { RosterAccessError, unavailable } from './errors.ts';
import type { RosterAuth } from './roster-auth.ts';
import type { RosterSession } from './sessions.ts';

/** A request of Node.js, as Express and Fastify have it. */
type NodeRequest = {
  readonly method?: string | undefined;
  readonly url?: string | undefined;
  readonly originalUrl?: string | undefined;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** Whether its body can still be read. */
  readonly readable: boolean;
  /** What a parser has read of the body. */
  readonly body?: unknown;
  on(event: 'data', listener: (chunk: Uint8Array) => void): unknown;
  on(event: 'end' | 'error', listener: (error?: unknown) => void): unknown;
  removeAllListeners(event: 'data'): unknown;
  pause(): unknown;
  resume(): unknown;
};

type NodeResponse = {
  statusCode: number;
  appendHeader(name: string, value: string | string[]): unknown;
  end(body?: Uint8Array): unknown;
};

/**
 * Returns a request of Node.js as one of `fetch`, with its body if `hasBody`. It is read when it is asked for: a route that
 * is not the kit's finds it unread.
 * @throws RosterAccessError (400) if it cannot be one, such as with a `Host` that no URL can have
 */
export async function toFetchRequest(request: NodeRequest, hasBody = false): Promise<Request> {
  const { method = 'GET' } = request;
  const headers = new Headers();
  for (const [name, value] of Object.entries(request.headers))
    for (const each of typeof value === 'string' ? [value] : (value ?? []))
      if (!name.startsWith(':')) headers.append(name, each);
  const body = hasBody && method !== 'GET' && method !== 'HEAD' ? toBody(request) : null;
  try {
    const address = new URL(`http://${request.headers['host'] as string}${targetOf(request)}`); // HTTP/1.1 requires it
    return new Request(address, { method, headers, body, duplex: 'half' } as RequestInit); // `duplex` is missing in the types of browsers
  } catch {
    // What is caught says the address, which can hold a code.
    throw new RosterAccessError(400, 'invalid_request', 'The address or the method is not valid.');
  }
}

/** The path and query, also of a request that says its whole URL (RFC 9112, section 3.2.2). */
const targetOf = ({ originalUrl, url = '/' }: NodeRequest): string =>
  (originalUrl ?? url).replace(/^https?:\/\/[^/?#]*/i, '');

function toBody(request: NodeRequest): string | Uint8Array | ReadableStream<Uint8Array> {
  // A parser before the kit has read it. Some also set a body for what they leave unread.
  if (!request.readable && request.body !== undefined)
    return encodeParsed(request.body, request.headers['content-type']);
  let [isBegun, isWanted] = [false, true];
  const pull = (controller: ReadableStreamDefaultController<Uint8Array>): void => {
    if (!isBegun) {
      // Neither `end` nor `error` would follow.
      if (!request.readable) return controller.error(new Error('The body was read before, or the connection closed.'));
      request.on('data', (chunk) => {
        request.pause();
        controller.enqueue(chunk);
      });
      request.on('end', () => isWanted && controller.close());
      request.on('error', (error) => controller.error(error));
    }
    isBegun = true;
    request.resume();
  };
  /** What is not wanted is read all the same, so that the connection has room for the answer and the next request. */
  const cancel = (): void => {
    isWanted = false;
    request.removeAllListeners('data');
    request.resume();
  };
  return new ReadableStream({ pull, cancel }, { highWaterMark: 0 });
}

function encodeParsed(body: unknown, type: string | string[] | undefined): string | Uint8Array {
  if (typeof body === 'string' || body instanceof Uint8Array) return body;
  return String(type).startsWith('application/x-www-form-urlencoded')
    ? new URLSearchParams(body as Record<string, string>).toString() // what a parser makes of a form
    : JSON.stringify(body);
}

type Answer = { readonly response: Response; readonly body: Uint8Array };

/** Reads the whole response. What fails in it can thus still be answered with an error. */
async function readAnswer(response: Response): Promise<Answer> {
  const body = await response.arrayBuffer().catch((cause: unknown) => {
    throw unavailable(cause);
  });
  return { response, body: new Uint8Array(body) };
}

/** Answers a request for one of the kit's own routes. @returns undefined for all others. @throws what is no fault of it */
async function answer(auth: RosterAuth, request: NodeRequest): Promise<Answer | undefined> {
  try {
    const response = await auth.handle(await toFetchRequest(request, true));
    return response && (await readAnswer(response));
  } catch (error) {
    return readAnswer(auth.respond(error));
  }
}

/** Sends a response of `fetch` as one of Node.js. */
function send({ response, body }: Answer, to: NodeResponse): void {
  to.statusCode = response.status;
  for (const [name, value] of response.headers) if (name !== 'set-cookie') to.appendHeader(name, value);
  const cookies = response.headers.getSetCookie();
  if (cookies.length > 0) to.appendHeader('set-cookie', cookies);
  to.end(body);
}

const isOwnPath = (auth: RosterAuth, request: NodeRequest): boolean =>
  [auth.path, auth.trpcPath].some((path) => targetOf(request).startsWith(`${path}/`));

/**
 * Creates the middleware of Express: `app.use(roster)` answers the kit's own routes, and `roster.session` and
 * `roster.permission('invoices:write')` let in who is signed in or has the permission, as `req.session`'s replacement
 * `req.roster`.
 */
export function toExpress(auth: RosterAuth) {
  type Next = (error?: unknown) => void;
  type Handler = (request: NodeRequest, response: NodeResponse, next: Next) => Promise<void>;

  /** Creates a handler, of which Express 4 would not see that it fails. */
  const toHandler =
    (find: (request: NodeRequest, response: NodeResponse) => Promise<Answer | undefined>): Handler =>
    async (request, response, next) => {
      try {
        const answered = await find(request, response);
        if (answered !== undefined) return send(answered, response);
      } catch (error) {
        return next(error);
      }
      next();
    };

  const letIn = (check: (request: Request) => Promise<RosterSession>): Handler =>
    toHandler(async (request, response) => {
      try {
        const session = await check(await toFetchRequest(request));
        if (session.setCookies.length > 0) response.appendHeader('set-cookie', [...session.setCookies]);
        Object.assign(request, { roster: session });
        return undefined;
      } catch (error) {
        return readAnswer(auth.respond(error));
      }
    });

  const routes = toHandler(async (request) => (isOwnPath(auth, request) ? answer(auth, request) : undefined));

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
      const answered = await answer(auth, request.raw);
      reply.hijack();
      send(answered ?? (await readAnswer(new Response(null, { status: 404 }))), reply.raw);
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
