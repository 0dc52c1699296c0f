import { expect, test } from 'vitest';
import { z } from 'zod';
import { teamProcedure } from '../../src/procedures/procedures.ts';
import { endpoint, procedure } from '../../src/procedures/trpc.ts';

const DESCRIBED = { summary: 'Rename a team', returns: 'The team.' };
const resolve = () => '';

// Guarantee that the compiler refuses a mutation whose effect nobody has considered: each line below is one more error if
// it compiles.
test('a mutation without an effect does not compile', () => {
  const team = teamProcedure({ scope: 'teams:write' });
  const made = [
    // @ts-expect-error nothing is declared
    () => procedure.mutation(resolve),
    // @ts-expect-error nothing is declared, whatever else is
    () => team.input(z.object({})).output(z.string()).meta({ status: 201 }).mutation(resolve),
    // @ts-expect-error nothing is declared by its endpoint
    () => team.meta(endpoint('renameTeam', 'POST /api/v1/teams', DESCRIBED)).mutation(resolve),
    // @ts-expect-error no such effect
    () => team.meta({ effect: 'nothing' }).mutation(resolve),

    () => team.output(z.string()).query(resolve),
    () => team.meta({ effect: 'none' }).input(z.object({})).output(z.string()).mutation(resolve),
    () =>
      team
        .meta({ effect: 'widens if it adds scopes' })
        .use(({ next }) => next())
        .meta({})
        .mutation(resolve),
    () => team.meta(endpoint('renameTeam', 'POST /api/v1/teams', { ...DESCRIBED, effect: 'none' })).mutation(resolve),
  ];
  for (const make of made) expect(make).not.toThrow();
});
