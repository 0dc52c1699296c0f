import { expect } from 'vitest';
import { connectionFault } from '../../src/service/database-fault.ts';
import { isUnavailable } from '../../src/db/errors.ts';
import { SCOPES } from '../../src/entities/index.ts';
import { test, type Api } from '../support/api.ts';
import { as, stateOf } from '../trpc/console.ts';

/** What PostgreSQL or a pooler reports while it cannot serve, which says nothing about the request. */
const STATES = [
  ['a connection that does not exist', '08003'],
  ['a connection failure', '08006'],
  ['a pooler that breaks the protocol', '08P01'],
  ['a server that became read-only', '25006'],
  ['a transaction that was idle for too long', '25P03'],
  ['a full disk', '53100'],
  ['too little memory', '53200'],
  ['too many connections', '53300'],
  ['an administrator who shuts it down', '57P01'],
  ['a crash', '57P02'],
  ['a server that starts', '57P03'],
  ['a session that was idle for too long', '57P05'],
  ['an input or output error', '58030'],
] as const;

/** Lets each write of a team fail with one SQLSTATE. @returns ends it */
async function failWrites(api: Api, team: { id: string }, state: string): Promise<() => Promise<unknown>> {
  const name = `fails_${team.id}`;
  await api.rows(
    `create function ${name}() returns trigger language plpgsql as
     $$ begin raise exception 'unavailable' using errcode = '${state}'; end $$`,
  );
  await api.rows(
    `create trigger ${name} before update on team for each row when (old.id = '${team.id}') execute function ${name}()`,
  );
  return () => api.rows(`drop function ${name} cascade`);
}

test.for(STATES)('%s (%s) is 503 with Retry-After, changes nothing, and passes', async ([, state], { api }) => {
  const owner = await api.anAccount();
  const team = await api.aTeam({ owner });
  const client = api.as(await api.anApiKey(owner, { scopes: SCOPES }));
  const trpc = await as(api, owner);
  const rename = () => client.patch(`/api/v1/teams/${team.id}`, { name: 'Renamed' });
  const describe = () => trpc.teams.updateDetails.mutate({ teamId: team.id, description: 'Changed' });
  const before = await stateOf(api, team);
  const pass = await failWrites(api, team, state);

  const { status, headers, body } = await rename();
  const failure = await describe().catch((error: { data: { problem: object } }) => error.data.problem);
  await pass();

  expect([status, headers['retry-after'], body.code]).toEqual([503, '1', 'service_unavailable']);
  expect(failure).toMatchObject({ status: 503, code: 'service_unavailable', retryAfter: 1 });
  expect(await stateOf(api, team)).toEqual(before);
  expect((await rename()).status).toBe(200);
});

test.for(['connect EMFILE 127.0.0.1:5432', 'connect ENFILE 127.0.0.1:5432', 'getaddrinfo EINVAL localhost'])(
  'a connection that needs a file too many (%s) is a 503, and at the start a line with advice',
  (message) => {
    const [, code = ''] = message.split(' ');
    const error = Object.assign(new Error(message), { code });

    expect(isUnavailable(error)).toBe(true);
    expect(connectionFault(error, 'postgres://localhost:5432/roster')).toMatch(
      /^DATABASE_URL: too many files are open .*`ulimit -n`/,
    );
  },
);
