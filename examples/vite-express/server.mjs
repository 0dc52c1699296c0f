// A product on Roster: its users sign in there, its API checks team and permission, its copy of members follows webhooks.
import express from 'express';
import { createServer as createVite } from 'vite';
import { createOperator, verifyWebhook } from '@roster/client';
import { createRosterAuth, memoryEndedSessions, toExpress } from '@roster/client/server';

const { ROSTER_URL, APP_URL, COOKIE_SECRET, ROSTER_CLIENT_ID, ROSTER_CLIENT_SECRET } = process.env;
const { ROSTER_OPERATOR_KEY, WEBHOOK_SECRET, ROSTER_INTERNAL_URL } = process.env;
const PORT = Number(new URL(APP_URL).port);

const operator = createOperator({ baseUrl: ROSTER_INTERNAL_URL ?? ROSTER_URL, operatorKey: ROSTER_OPERATOR_KEY });
const auth = createRosterAuth({
  baseUrl: ROSTER_URL,
  appUrl: APP_URL,
  clientId: ROSTER_CLIENT_ID,
  clientSecret: ROSTER_CLIENT_SECRET,
  secret: COOKIE_SECRET,
  scopes: [
    'profile:read',
    'teams:read',
    'teams:write',
    'members:read',
    'members:write',
    'api-keys:read',
    'api-keys:write',
  ],
  endedSessions: memoryEndedSessions(),
  operator,
  internalUrl: ROSTER_INTERNAL_URL,
});
const roster = toExpress(auth);

const app = express();
app.use(roster);

// The data of the product: in a database, `team_id` would be a column with row level security (docs/isolate-data.md).
const invoices = new Map();
const invoicesOf = (teamId) => {
  if (!invoices.has(teamId)) invoices.set(teamId, []);
  return invoices.get(teamId);
};

// For pages: the session of the browser, in the team in which the user works.
app.get('/app/invoices', roster.permission('access_dashboard'), (req, res) => {
  res.json(invoicesOf(req.roster.team.id));
});
app.post('/app/invoices', roster.permission('access_billing'), express.json(), (req, res) => {
  const invoice = { id: crypto.randomUUID(), title: String(req.body.title ?? ''), by: req.roster.user.id };
  invoicesOf(req.roster.team.id).push(invoice);
  res.status(201).json(invoice);
});

// For programs of customers: API keys that they create on the keys page.
app.get('/api/invoices', async (req, res) => {
  try {
    const sender = await operator.authenticate(req, { scopes: ['teams:read'], permission: 'access_dashboard' });
    if (!sender.valid) return res.status(sender.status).set(sender.headers).json({ error: sender.code });
    if (sender.team === null) return res.status(403).json({ error: 'team_key_required' });
    res.json(invoicesOf(sender.team.id));
  } catch {
    res.status(503).set('retry-after', '1').json({ error: 'service_unavailable' });
  }
});

// The members of each team, as webhooks tell them.
const members = new Map();
app.post('/webhooks/roster', express.raw({ type: '*/*' }), async (req, res) => {
  try {
    const event = await verifyWebhook({ body: req.body.toString(), headers: req.headers }, WEBHOOK_SECRET);
    const { type, teamId, accountId, data } = event;
    const team = members.get(teamId) ?? new Map();
    if (type === 'member.removed' || type === 'member.left') team.delete(accountId);
    else if (data?.member) team.set(data.member.accountId, data.member.email);
    members.set(teamId, team);
    res.status(204).end();
  } catch {
    res.status(401).end();
  }
});
app.get('/app/members', roster.session, (req, res) => {
  res.json([...(members.get(req.roster.team?.id)?.values() ?? [])]);
});

const vite = await createVite({ root: import.meta.dirname, server: { middlewareMode: true }, appType: 'spa' });
app.use(vite.middlewares);
app.listen(PORT, '127.0.0.1', () => console.log(`${APP_URL}`));
