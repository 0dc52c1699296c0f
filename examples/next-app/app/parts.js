'use client';

import { useRouter } from 'next/navigation';
import { useState } from 'react';

async function post(path, body) {
  const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
  const response = await fetch(path, init);
  if (!response.ok) throw new Error((await response.json()).error);
}

/** Does something, then renders the page anew. @returns how, and what was wrong */
function useAction(act) {
  const router = useRouter();
  const [error, setError] = useState(null);
  const run = (value) =>
    act(value).then(
      () => {
        setError(null);
        router.refresh();
      },
      ({ message }) => setError(message),
    );
  return [run, error];
}

export function TeamSwitcher({ teams, teamId }) {
  const [enter, error] = useAction((team) => post('/auth/team', { team }));
  return (
    <>
      <select aria-label="Team" value={teamId} onChange={(event) => enter(event.target.value)}>
        <option value="" disabled>
          Choose a team
        </option>
        {teams.map(({ id, name }) => (
          <option key={id} value={id}>
            {name}
          </option>
        ))}
      </select>
      {error && <p role="alert">{error}</p>}
    </>
  );
}

export function CreateInvoice() {
  const [title, setTitle] = useState('');
  const [create, error] = useAction(() => post('/api/invoices', { title }));
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        void create();
      }}
    >
      <input aria-label="Title" value={title} onChange={(event) => setTitle(event.target.value)} />
      <button>Create invoice</button>
      {error && <p role="alert">{error}</p>}
    </form>
  );
}
