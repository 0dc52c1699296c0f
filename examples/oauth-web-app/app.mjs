// A web app that signs people in with Roster, for one team, and shows its members.
// ROSTER_URL=http://localhost:3000 CLIENT_ID=client_… CLIENT_SECRET=rst_cs_… PORT=4002 node app.mjs
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { createRoster, isRosterError } from '@roster/client';
import { createOAuth } from '@roster/client/oauth';

const port = Number(process.env.PORT ?? 4002);
const origin = process.env.ORIGIN ?? `http://127.0.0.1:${port}`;
const baseUrl = process.env.ROSTER_URL ?? 'http://localhost:3000';
const oauth = createOAuth({
  baseUrl,
  clientId: process.env.CLIENT_ID,
  clientSecret: process.env.CLIENT_SECRET,
  redirectUri: `${origin}/callback`,
});

// Keep sessions in a database, and tokens encrypted: here they end with the process.
const sessions = new Map();

const routes = {
  '/': async (session) => {
    if (session.roster === undefined) return page('<a href="/sign-in">Sign in with Roster</a>');
    const [team] = await session.roster.listTeams(); // of a grant for one team, that team
    if (team === undefined) return page('Choose one team when you sign in. <a href="/sign-in">Sign in again</a>');
    const members = await session.roster.listTeamMembers({ teamId: team.id });
    return page(`<h1>${escape(team.name)}</h1><ul>${members.map(({ email }) => `<li>${escape(email ?? '')}</li>`).join('')}</ul>
      <form method="post" action="/sign-out"><button>Sign out</button></form>`);
  },
  '/sign-in': async (session) => {
    const { url, ...pending } = await oauth.authorize({ scopes: ['teams:read', 'members:read'] });
    session.pending = pending;
    return redirect(url.href);
  },
  '/callback': async (session, url) => {
    const { pending } = session;
    delete session.pending; // a state is used once
    if (pending === undefined) return redirect('/');
    session.tokens = await oauth.exchange(url, pending);
    const credential = oauth.createCredential(session.tokens, (tokens) => void (session.tokens = tokens));
    session.roster = createRoster({ baseUrl, credential });
    sessions.delete(session.id); // a new id for a new authority
    session.id = randomUUID();
    sessions.set(session.id, session);
    return redirect('/');
  },
  'POST /sign-out': async (session) => {
    if (session.tokens !== undefined) await oauth.revoke(session.tokens);
    sessions.delete(session.id);
    return redirect('/');
  },
};

const escape = (text) => text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);
const page = (html) => ({ status: 200, headers: { 'content-type': 'text/html; charset=utf-8' }, body: html });
const redirect = (location) => ({ status: 303, headers: { location }, body: '' });

function sessionOf(req) {
  const id = /(?:^|; )app=([\w-]{36})/.exec(req.headers.cookie ?? '')?.[1];
  const session = sessions.get(id) ?? { id: randomUUID() };
  sessions.set(session.id, session);
  return session;
}

const server = createServer(async (req, res) => {
  const url = new URL(req.url, origin);
  const route = routes[req.method === 'GET' ? url.pathname : `${req.method} ${url.pathname}`];
  if (route === undefined) return void res.writeHead(404).end();
  const session = sessionOf(req);
  try {
    const { status, headers, body } = await route(session, url);
    // SameSite=Lax, because the browser comes back from another site with a link.
    res.setHeader('set-cookie', `app=${session.id}; HttpOnly; SameSite=Lax; Path=/`);
    res.writeHead(status, headers).end(body);
  } catch (error) {
    // The user denied it, or the grant was revoked: they can sign in again.
    delete session.roster;
    const text = isRosterError(error) ? error.code : (error.error ?? 'unavailable');
    res.writeHead(403, { 'content-type': 'text/html' }).end(`${escape(text)}. <a href="/sign-in">Sign in again</a>`);
  }
});
server.listen(port, '127.0.0.1', () => console.log('listening', server.address().port));
