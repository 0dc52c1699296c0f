// Middlewares that let in who has an API key or access token of Roster and what the route needs, and no one else.
// `operator` is the result of `createOperator`; `needs` are a team, scopes and a permission, or a function of the request.

/** Asks Roster about a request. If Roster does not answer, no one is let in. */
async function decide(operator, request, needs) {
  try {
    return await operator.authenticate(request, needs);
  } catch (error) {
    console.error('Roster did not answer:', error.code ?? error.message);
    return { valid: false, code: 'service_unavailable', status: 503, headers: { 'retry-after': '1' } };
  }
}

/** Express: `app.get('/reports', requireSender(operator, needs), (req, res) => res.json(req.sender.role))`. */
export const requireSender = (operator, needs) => async (req, res, next) => {
  const decision = await decide(operator, req, typeof needs === 'function' ? needs(req) : needs);
  if (!decision.valid) return void res.status(decision.status).set(decision.headers).json({ error: decision.code });
  req.sender = decision;
  next();
};

/** Hono: `app.use('/reports', honoSender(operator, needs))`, then `context.get('sender')`. */
export const honoSender = (operator, needs) => async (context, next) => {
  const decision = await decide(operator, context.req.raw, typeof needs === 'function' ? needs(context) : needs);
  if (!decision.valid) return answer(decision);
  context.set('sender', decision);
  await next();
};

/**
 * A route handler of Next, or any handler of `fetch`:
 * `export const GET = withSender(operator, needs, (request, sender) => Response.json(sender.role))`.
 */
export const withSender = (operator, needs, handle) => async (request, context) => {
  const asked = typeof needs === 'function' ? await needs(request, context) : needs;
  const decision = await decide(operator, request, asked);
  return decision.valid ? handle(request, decision, context) : answer(decision);
};

const answer = ({ status, headers, code }) => Response.json({ error: code }, { status, headers });
