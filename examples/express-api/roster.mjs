// Middlewares that let in who has an API key or access token of Roster, and no one else.
import { authenticate, isRosterError } from '@roster/client';

/** What to answer if Roster cannot be asked now: never let someone in because of it. */
const statusOf = (error) => (isRosterError(error) && error.code === 'rate_limited' ? 429 : 503);

/** Express: `app.get('/reports', requireSender(options), (req, res) => res.json(req.sender.team))`. */
export const requireSender = (options) => async (req, res, next) => {
  let sender;
  try {
    sender = await authenticate(req, typeof options === 'function' ? options(req) : options);
  } catch (error) {
    return void res.status(statusOf(error)).json({ error: 'roster_unavailable' });
  }
  if (sender === null) return void res.status(401).set('WWW-Authenticate', 'Bearer').json({ error: 'unauthenticated' });
  req.sender = sender;
  next();
};

/** Hono: `app.use(honoSender(options))`, then `context.get('sender')`. */
export const honoSender = (options) => async (context, next) => {
  const sender = await senderOf(context.req.raw, options);
  if (sender instanceof Response) return sender;
  context.set('sender', sender);
  await next();
};

/** Next, or any handler of `fetch`: `export const GET = withSender(options, (request, sender) => Response.json(…))`. */
export const withSender = (options, handle) => async (request, context) => {
  const sender = await senderOf(request, options);
  return sender instanceof Response ? sender : handle(request, sender, context);
};

async function senderOf(request, options) {
  try {
    const sender = await authenticate(request, options);
    if (sender !== null) return sender;
  } catch (error) {
    return Response.json({ error: 'roster_unavailable' }, { status: statusOf(error) });
  }
  return Response.json({ error: 'unauthenticated' }, { status: 401, headers: { 'WWW-Authenticate': 'Bearer' } });
}
