import { EventEmitter } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { expect, test } from 'vitest';
import { Caller } from '../../src/db/caller.ts';
import { PLACE_LIMITS } from '../../src/db/list-places.ts';
import { RequestPlaces, type ListKind } from '../../src/db/request-places.ts';

/** Requests of different accounts, for which there is one place of each kind. */
function aScene() {
  const places = new RequestPlaces({ ...PLACE_LIMITS, total: 1 });
  const begun: string[] = [];
  const aRequest = (name: string) => {
    const res = new EventEmitter();
    const req = { socket: new EventEmitter() };
    const caller = new Caller(name, req as IncomingMessage, res as ServerResponse); // what `over` listens to
    return {
      take: (kind: ListKind) => places.take(caller, kind).then(() => void begun.push(`${name} ${kind}`)),
      giveUp: () => places.giveUp(caller),
      end: () => void res.emit('close'),
      listeners: () => res.listenerCount('close') + req.socket.listenerCount('close'),
    };
  };
  return { places, begun, aRequest };
}

const settle = () => new Promise(setImmediate);

test('a page does not wait for the places of long lists', async () => {
  const { places, begun, aRequest } = aScene();
  const [busy, waiting, other] = [aRequest('busy'), aRequest('waiting'), aRequest('other')];
  await busy.take('long');
  const later = waiting.take('long');

  await other.take('page');

  expect(begun).toEqual(['busy long', 'other page']);
  busy.end();
  await later;
  for (const request of [waiting, other]) request.end();
  expect(places.length).toBe(0);
  expect([busy, waiting, other].map(({ listeners }) => listeners())).toEqual([0, 0, 0]);
});

test('a request has one place: that of a page is free while it waits for one of long lists', async () => {
  const { places, begun, aRequest } = aScene();
  const [busy, both, other] = [aRequest('busy'), aRequest('both'), aRequest('other')];
  await busy.take('long');
  await both.take('page');
  const later = both.take('long');
  await settle();

  await other.take('page');
  await busy.take('page');
  busy.end();
  await later;
  await both.take('page');

  expect(begun).toEqual(['busy long', 'both page', 'other page', 'busy page', 'both long', 'both page']);
  await both.giveUp();
  other.end();
  expect(places.length).toBe(0);
});
