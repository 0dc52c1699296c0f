import { expect, vi } from 'vitest';
import { test } from '../support/api.ts';
import { PATIENCE_MS } from '../support/patience.ts';
import { countLockWaits, holdLock, QUEUE, send } from '../rest/tenants.ts';

const eventually = (expectation: () => unknown) => vi.waitFor(expectation, { timeout: PATIENCE_MS });

test('changes of an operator key are two at work and 98 waiting; one more is a 503 to this key alone', async ({
  api,
}) => {
  const [busy, other] = [await api.anOperatorKey(), await api.anOperatorKey()];
  const [held, free] = [await api.anAccount(), await api.anAccount()];
  const pathOf = ({ id }: { id: string }) => `/operator/v1/accounts/${id}`;
  const lock = await holdLock(api, 'select from account where id = $1 for update', [held.id]);
  const waiting = Array.from({ length: QUEUE }, (_, i) =>
    send(api, busy, 'PATCH', pathOf(held), { firstName: `Name ${i}` }),
  );
  await eventually(() => expect(api.services.db.writeQueue.length).toBe(QUEUE));
  await eventually(async () => expect(await countLockWaits(api)).toBe(2));

  const refused = await api.as(busy).patch(pathOf(free), { firstName: 'One too many' });
  expect(refused).toBeProblem('service_unavailable');
  expect(refused.headers['retry-after']).toBe('1');
  expect((await api.as(other).patch(pathOf(free), { firstName: 'Ada' })).body.firstName).toBe('Ada');
  expect((await api.as(busy).get(pathOf(free))).body.firstName).toBe('Ada');
  expect(await countLockWaits(api)).toBe(2);

  await lock.release();
  expect(await Promise.all(waiting.map(({ status }) => status))).toEqual(waiting.map(() => 200));
  expect((await api.as(busy).patch(pathOf(free), { firstName: 'Grace' })).status).toBe(200);
});
