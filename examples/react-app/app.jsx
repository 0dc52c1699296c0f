// The page of team settings that every product writes: team switcher, members, invitations, keys, accepting an invitation.
import { useState } from 'react';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import {
  problemOf,
  RosterProvider,
  useAccount,
  useApiKeys,
  useCreateApiKey,
  useCreateTeam,
  useInvitation,
  useInvitations,
  useInviteForm,
  useMembersTable,
  useRevokeApiKey,
  useRevokeInvitation,
  useTeamSwitcher,
} from '@roster/client/react';
import { createRosterTrpc } from '@roster/client/trpc';
import { createRoot } from 'react-dom/client';

function Failure({ error }) {
  const problem = problemOf(error);
  return problem && <p role="alert">{problem.detail}</p>;
}

function Members({ teamId }) {
  const table = useMembersTable(teamId, { pageSize: 20 });
  return (
    <section>
      <h2>Members ({table.total})</h2>
      <label>
        Search <input type="search" value={table.search} onChange={(event) => table.setSearch(event.target.value)} />
      </label>
      <Failure error={table.error ?? table.change.error ?? table.remove.error} />
      <table>
        <thead>
          <tr>
            {[
              ['name', 'Name'],
              ['email', 'Email'],
              ['roleName', 'Role'],
            ].map(([column, title]) => (
              <th key={column}>
                <button onClick={() => table.orderBy(column)}>{title}</button>
              </th>
            ))}
            <th />
          </tr>
        </thead>
        <tbody>
          {table.rows.map(({ accountId, name, email, roleId, roleName }) => (
            <tr key={accountId}>
              <td>{name}</td>
              <td>{email}</td>
              <td>
                {roleId === 'owner' ? (
                  roleName
                ) : (
                  <select
                    aria-label={`Role of ${email}`}
                    value={roleId}
                    onChange={(event) => table.change.mutate({ accountId, roleId: event.target.value })}
                  >
                    {table.assignableRoles.map((role) => (
                      <option key={role.roleId} value={role.roleId}>
                        {role.name}
                      </option>
                    ))}
                  </select>
                )}
              </td>
              <td>
                {roleId !== 'owner' && (
                  <button onClick={() => table.remove.mutate({ accountId })}>Remove {email}</button>
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {table.pageCount > 1 && (
        <p>
          <button disabled={table.page === 0} onClick={() => table.setPage(table.page - 1)}>
            Previous
          </button>{' '}
          {table.page + 1} / {table.pageCount}{' '}
          <button disabled={table.page + 1 === table.pageCount} onClick={() => table.setPage(table.page + 1)}>
            Next
          </button>
        </p>
      )}
    </section>
  );
}

function Invitations({ teamId }) {
  const form = useInviteForm(teamId);
  const invitations = useInvitations(teamId);
  const revoke = useRevokeInvitation(teamId);
  return (
    <section>
      <h2>Invitations</h2>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          form.submit();
        }}
      >
        <label>
          Email{' '}
          <input
            value={form.email}
            onChange={(event) => form.setEmail(event.target.value)}
            aria-invalid={form.errors.email !== undefined}
          />
        </label>
        <select aria-label="Role" value={form.roleId ?? ''} onChange={(event) => form.setRoleId(event.target.value)}>
          {form.roles.map(({ roleId, name }) => (
            <option key={roleId} value={roleId}>
              {name}
            </option>
          ))}
        </select>
        <button disabled={form.isPending}>Invite</button>
      </form>
      {form.errors.email && <p role="alert">This is not an email address.</p>}
      {form.formError && <p role="alert">{form.formError.detail}</p>}
      {form.invited && <p role="status">{form.invited} was invited.</p>}
      <ul>
        {(invitations.data ?? []).map(({ id, email }) => (
          <li key={id}>
            {email} <button onClick={() => revoke.mutate({ invitationId: id })}>Revoke {email}</button>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** The keys of a team, or with null the user’s own. */
function Keys({ title, teamId }) {
  const keys = useApiKeys(teamId);
  const create = useCreateApiKey(teamId);
  const revoke = useRevokeApiKey(teamId);
  const [name, setName] = useState('');
  return (
    <section aria-label={title}>
      <h2>{title}</h2>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          create.mutate({ name, scopes: ['teams:read'], expiresInDays: 30 }, { onSuccess: () => setName('') });
        }}
      >
        <label>
          Key name <input value={name} onChange={(event) => setName(event.target.value)} />
        </label>
        <button disabled={create.isPending}>Create key</button>
      </form>
      <Failure error={keys.error ?? create.error ?? revoke.error} />
      {create.data && (
        <p role="status">
          Copy the secret, which is shown once: <code>{create.data.secret}</code>
        </p>
      )}
      <ul>
        {(keys.data ?? []).map(({ id, name: of }) => (
          <li key={id}>
            {of} <button onClick={() => revoke.mutate({ keyId: id })}>Revoke {of}</button>
          </li>
        ))}
      </ul>
    </section>
  );
}

function CreateTeam() {
  const create = useCreateTeam();
  const [name, setName] = useState('');
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        create.mutate({ name }, { onSuccess: () => setName('') });
      }}
    >
      <label>
        Team name <input value={name} onChange={(event) => setName(event.target.value)} />
      </label>
      <button disabled={create.isPending}>Create team</button>
      <Failure error={create.error} />
    </form>
  );
}

function Team() {
  const account = useAccount();
  const { teams, team, select, isPending, error } = useTeamSwitcher();
  if (isPending) return <p>Loading …</p>;
  if (error) return <Failure error={error} />;
  if (team === null)
    return (
      <>
        <p>You are not in a team yet.</p>
        <CreateTeam />
      </>
    );
  return (
    <>
      <p>Signed in as {account.data?.email}</p>
      <select aria-label="Team" value={team.id} onChange={(event) => select(event.target.value)}>
        {teams.map(({ id, name }) => (
          <option key={id} value={id}>
            {name}
          </option>
        ))}
      </select>
      <h1>{team.name}</h1>
      <Members key={`members ${team.id}`} teamId={team.id} />
      <Invitations key={`invitations ${team.id}`} teamId={team.id} />
      {team.role.id === 'owner' && <Keys key={`keys ${team.id}`} title="Keys of the team" teamId={team.id} />}
      <Keys title="My keys" teamId={null} />
    </>
  );
}

function Invitation({ token }) {
  const { invitation, accept, joined, error, isPending } = useInvitation(token);
  if (joined) return <p role="status">You are in {joined.name}.</p>;
  return (
    <>
      {isPending && <p>Loading …</p>}
      <Failure error={error ?? accept.error} />
      {invitation && (
        <button disabled={accept.isPending} onClick={() => accept.mutate()}>
          Join {invitation.teamName} as {invitation.roleName}
        </button>
      )}
    </>
  );
}

const dialog = document.getElementById('proof');

/** Asks for the password, which new keys need from 10 minutes after the sign-in on. Without a password, ask for a passkey. */
async function prove() {
  dialog.returnValue = '';
  dialog.showModal();
  await new Promise((resolve) => dialog.addEventListener('close', resolve, { once: true }));
  const input = dialog.querySelector('input');
  const password = input.value;
  input.value = '';
  if (dialog.returnValue !== 'confirm') return false;
  return client.account.prove.mutate({ password }).then(() => true, prove);
}

// Without a credential: the session of the browser, on the origin of Roster.
const client = createRosterTrpc({ onProofRequired: prove });
const token = new URLSearchParams(location.search).get('token');
const queryClient = new QueryClient({ defaultOptions: { queries: { retry: 1 } } });
createRoot(document.getElementById('root')).render(
  <QueryClientProvider client={queryClient}>
    <RosterProvider client={client}>{token === null ? <Team /> : <Invitation token={token} />}</RosterProvider>
  </QueryClientProvider>,
);
