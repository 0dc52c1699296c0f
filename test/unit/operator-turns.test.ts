import { expect, test } from 'vitest';
import { definitionOf, proceduresOf } from '../../src/procedures/definition.ts';
import type { Meta } from '../../src/procedures/meta.ts';
import { inputOf } from '../../src/procedures/middlewares.ts';
import { inTurnOf } from '../../src/procedures/turn.ts';
import { appRouter, operatorRouter } from '../../src/router.ts';

/** What changes of an operator name that is neither a team nor an account: they wait in the turn of their operator. */
const OF_THE_OPERATOR = ['clientId', 'deliveryId', 'endpointId', 'importId', 'jobId', 'keyId', 'templateId'];

// Guarantees that a team or account whose lock is held delays only the changes of an operator that are made on it.
test('every change of an operator that names a team or an account waits in its turn', () => {
  const others = new Set<string>();
  let inTurn = 0;
  for (const [name, procedure] of Object.entries({ ...proceduresOf(appRouter), ...proceduresOf(operatorRouter) })) {
    const { type, meta } = definitionOf<Meta>(procedure);
    const isOperators = meta?.access?.isOperatorApi === true || meta?.access?.operatorOnly === true;
    const ids = Object.keys(inputOf(procedure)?.shape ?? {}).filter((field) => field.endsWith('Id'));
    if (inTurnOf(procedure) !== undefined) {
      inTurn += 1;
      expect([type, isOperators], name).toEqual(['mutation', true]);
    } else if (type === 'mutation' && isOperators)
      for (const id of ids.filter((field) => field !== 'externalId')) others.add(id);
  }
  expect([...others].sort()).toEqual(OF_THE_OPERATOR);
  expect(inTurn).toBeGreaterThan(50);
});
