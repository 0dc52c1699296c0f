import { initTRPC } from '@trpc/server';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { definitionOf, proceduresOf } from '../../src/procedures/definition.ts';
import type { Meta } from '../../src/procedures/meta.ts';
import { appRouter } from '../../src/router.ts';

// Guarantee that an update of tRPC that changes what this service reads of procedures fails by the name of what changed.
test('tRPC keeps of each procedure what this service reads', () => {
  const procedures = Object.entries(proceduresOf(appRouter));
  expect(procedures.length).toBeGreaterThan(200);
  for (const [name, procedure] of procedures)
    expect([name, definitionOf(procedure)]).toEqual([
      name,
      expect.objectContaining({
        type: expect.stringMatching(/^(?:query|mutation)$/),
        inputs: expect.any(Array),
        middlewares: expect.arrayContaining([expect.any(Function)]),
      }),
    ]);
  // Without it, every mutation would be refused by `requireEffect`, and every query would be open to all.
  expect(
    procedures.filter(([, procedure]) => definitionOf<Meta>(procedure).meta?.access !== undefined).length,
  ).toBeGreaterThan(200);
});

test('tRPC names the middleware that checks the output, which others are put before', () => {
  const [input, output] = [z.object({ name: z.string() }), z.string()];
  const t = initTRPC.create();
  const definition = definitionOf(
    t.procedure
      .input(input)
      .output(output)
      .mutation(() => ''),
  );
  expect(definition).toMatchObject({ type: 'mutation', inputs: [input], output });
  expect(definition.middlewares.map(({ _type }) => _type)).toEqual(['input', 'output', undefined]);
});
