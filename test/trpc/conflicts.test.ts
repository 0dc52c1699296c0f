import { expect } from 'vitest';
import { SCOPES } from '../../src/entities/index.ts';
import { test, type Api } from '../support/api.ts';
import { as, stateOf } from './console.ts';

/** Lets PostgreSQL abort the next `times` transactions that write a team, as it does the victims of a deadlock. */
async function abort(api: Api, team: { id: string }, state: string, times: number): Promise<void> {
  const name = `aborts_${team.id}`;
  await api.rows(`create sequence ${name}`);
  await api.rows(
    `create function ${name}() returns trigger language plpgsql as $$ begin
       if nextval('${name}') <= ${times} then raise exception 'aborted' using errcode = '${state}'; end if;
       return new;
     end $$`,
  );
  await api.rows(
    `create trigger ${name} before update on team for each row when (old.id = '${team.id}') execute function ${name}()`,
  );
}

async function aTeamOfOwner(api: Api) {
  const owner = await api.anAccount();
  const team = await api.aTeam({ owner });
  return { team, teamId: team.id, key: await api.anApiKey(owner, { scopes: SCOPES }), trpc: await as(api, owner) };
}

type OfOwner = Awaited<ReturnType<typeof aTeamOfOwner>>;

const renamed = async (api: Api, { teamId, key }: OfOwner): Promise<number> =>
  (await api.as(key).patch(`/api/v1/teams/${teamId}`, { name: 'Renamed' })).status;

const described = (_api: Api, { teamId, trpc }: OfOwner): Promise<number> =>
  trpc.teams.updateDetails.mutate({ teamId, description: 'Changed' }).then(
    () => 200,
    (error: { data: { problem: { status: number } } }) => error.data.problem.status,
  );

const eventsOf = (api: Api, { teamId }: OfOwner) =>
  api.rows(`select event from audit_event where team_id = $1 and event like 'team.%'`, [teamId]);

const CALLS = [
  ['a change that is one command', renamed, 'team.renamed'],
  ['a change that is a transaction', described, 'team.updated'],
] as const;

const STATES = [
  ['a deadlock', '40P01'],
  ['a serialization failure', '40001'],
] as const;

for (const [what, call, event] of CALLS) {
  for (const [conflict, state] of STATES) {
    test(`${what} is done although ${conflict} aborts it three times, and is recorded once`, async ({ api }) => {
      const owned = await aTeamOfOwner(api);
      await abort(api, owned.team, state, 3);

      expect(await call(api, owned)).toBe(200);

      expect(await eventsOf(api, owned)).toEqual([{ event }]);
    });

    test(`${what} that ${conflict} aborts four times is 503, and nothing has changed`, async ({ api }) => {
      const owned = await aTeamOfOwner(api);
      await abort(api, owned.team, state, 4);
      const before = await stateOf(api, owned.team);

      expect(await call(api, owned)).toBe(503);

      expect(await stateOf(api, owned.team)).toEqual(before);
      expect(await eventsOf(api, owned)).toEqual([]);
    });
  }
}
