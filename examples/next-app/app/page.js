import { headers } from 'next/headers';
import { createRoster } from '@roster/client';
import { auth, internalUrl, invoicesOf } from '../roster.js';
import { CreateInvoice, TeamSwitcher } from './parts.js';

export default async function Page() {
  const session = await auth.getSession(new Request(process.env.APP_URL, { headers: new Headers(await headers()) }));
  if (session === null)
    return (
      <main>
        <h1>Invoices</h1>
        <a href="/auth/sign-in">Sign in</a>
      </main>
    );
  const { user, team, accessToken } = session;
  const teams = await createRoster({ baseUrl: internalUrl, credential: accessToken }).listTeams();
  return (
    <main>
      <h1>Invoices</h1>
      <p>Signed in as {user.email}</p>
      <form method="post" action="/auth/sign-out">
        <button>Sign out</button>
      </form>
      <TeamSwitcher teams={teams.map(({ id, name }) => ({ id, name }))} teamId={team?.id ?? ''} />
      {team && (
        <>
          <ul>
            {invoicesOf(team.id).map(({ id, title }) => (
              <li key={id}>{title}</li>
            ))}
          </ul>
          {team.permissions.includes('access_billing') ? <CreateInvoice /> : <p>Your role cannot create invoices.</p>}
        </>
      )}
    </main>
  );
}
