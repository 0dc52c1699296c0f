// The pages of the product: who is signed in, team switcher, invoices, members and roles, API keys.
import { useState } from 'react';
import { createRoot } from 'react-dom/client';
import { QueryClient, QueryClientProvider, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { createRosterTrpc } from '@roster/client/trpc';
import {
  problemOf,
  Protect,
  proveInWindow,
  RosterProvider,
  useApiKeys,
  useChangeMember,
  useCreateApiKey,
  useMembers,
  useRevokeApiKey,
  useRoles,
  useSession,
  useTeam,
  useTeams,
} from '@roster/client/react';

async function send(path, body) {
  const init = body && { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
  const response = await fetch(path, init);
  if (!response.ok) throw new Error((await response.json()).error);
  return response.json();
}

function TeamSwitcher() {
  const teams = useTeams();
  const { team, enter, isEntering } = useTeam();
  return (
    <select
      aria-label="Team"
      value={team?.id ?? ''}
      disabled={isEntering}
      onChange={(event) => enter(event.target.value)}
    >
      <option value="" disabled>
        Choose a team
      </option>
      {(teams.data ?? []).map(({ id, name }) => (
        <option key={id} value={id}>
          {name}
        </option>
      ))}
    </select>
  );
}

function Invoices({ teamId }) {
  const queryClient = useQueryClient();
  const [title, setTitle] = useState('');
  const invoices = useQuery({ queryKey: ['invoices', teamId], queryFn: () => send('/app/invoices') });
  const create = useMutation({
    mutationFn: () => send('/app/invoices', { title }),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: ['invoices', teamId] }),
  });
  return (
    <section>
      <h2>Invoices</h2>
      <ul>
        {(invoices.data ?? []).map((invoice) => (
          <li key={invoice.id}>{invoice.title}</li>
        ))}
      </ul>
      <Protect permission="access_billing" fallback={<p>Your role cannot create invoices.</p>}>
        <form
          onSubmit={(event) => {
            event.preventDefault();
            create.mutate();
          }}
        >
          <input aria-label="Title" value={title} onChange={(event) => setTitle(event.target.value)} />
          <button>Create invoice</button>
        </form>
      </Protect>
      {create.error && <p role="alert">{create.error.message}</p>}
    </section>
  );
}

function Members({ teamId }) {
  const members = useMembers(teamId);
  const roles = useRoles(teamId);
  const change = useChangeMember(teamId);
  return (
    <section>
      <h2>Members</h2>
      {change.error && <p role="alert">{problemOf(change.error)?.detail}</p>}
      <ul>
        {(members.data ?? []).map(({ accountId, email, roleId, roleName }) => (
          <li key={accountId}>
            {email}{' '}
            {roleId === 'owner' ? (
              roleName
            ) : (
              <select
                aria-label={`Role of ${email}`}
                value={roleId}
                onChange={(event) => change.mutate({ accountId, roleId: event.target.value })}
              >
                {(roles.data ?? [])
                  .filter((role) => role.isAssignable || role.roleId === roleId)
                  .map((role) => (
                    <option key={role.roleId} value={role.roleId}>
                      {role.name}
                    </option>
                  ))}
              </select>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}

function Keys({ teamId }) {
  const keys = useApiKeys(teamId);
  const create = useCreateApiKey(teamId);
  const revoke = useRevokeApiKey(teamId);
  const [name, setName] = useState('');
  return (
    <section>
      <h2>API keys</h2>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          create.mutate({ name, scopes: ['teams:read'] });
        }}
      >
        <input aria-label="Name of the key" value={name} onChange={(event) => setName(event.target.value)} />
        <button>Create key</button>
      </form>
      {create.error && <p role="alert">{problemOf(create.error)?.detail}</p>}
      {create.data && (
        <p role="status">
          Copy the key now: <code>{create.data.secret}</code>
        </p>
      )}
      <ul>
        {(keys.data ?? []).map((key) => (
          <li key={key.id}>
            {key.name} <button onClick={() => revoke.mutate({ apiKeyId: key.id })}>Revoke {key.name}</button>
          </li>
        ))}
      </ul>
    </section>
  );
}

function App() {
  const session = useSession();
  if (session.isPending) return null;
  if (!session.data) {
    return (
      <main>
        <h1>Invoices</h1>
        <a href="/auth/sign-in">Sign in</a> <a href="/auth/sign-in?prompt=create">Sign up</a>
      </main>
    );
  }
  const { user, team } = session.data;
  return (
    <main>
      <h1>Invoices</h1>
      <p>Signed in as {user.email}</p>
      <form method="post" action="/auth/sign-out">
        <button>Sign out</button>
      </form>
      <TeamSwitcher />
      {team && (
        <>
          <Invoices teamId={team.id} />
          <Members teamId={team.id} />
          <Keys teamId={team.id} />
        </>
      )}
    </main>
  );
}

const queryClient = new QueryClient();
const client = createRosterTrpc({ baseUrl: '/roster', onProofRequired: () => proveInWindow() });

createRoot(document.getElementById('root')).render(
  <QueryClientProvider client={queryClient}>
    <RosterProvider client={client}>
      <App />
    </RosterProvider>
  </QueryClientProvider>,
);
