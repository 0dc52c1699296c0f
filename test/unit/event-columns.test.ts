import { describe, expect, test } from 'vitest';
import { createEncryption } from '../../src/crypto/encryption.ts';
import type { CanonicalRow } from '../../src/events/chain/event-columns.ts';
import { eventKeys, isEventSigned } from '../../src/events/chain/event-mac.ts';
import { GENESIS, nextPosition } from '../../src/events/chain/hash-chain.ts';

// Computed by version 1.0.0. Change the code, never these values: audit logs of that version must keep verifying.
const STORED: CanonicalRow = {
  id: 'evt_1',
  occurred_at: '2026-11-22T00:00:00.123Z',
  event: 'team.updated',
  actor_kind: 'session',
  actor_id: 'acc_1',
  credential_id: 'ses_1',
  client_id: 'cli_1',
  team_id: 'tem_1',
  account_id: 'acc_2',
  target_id: null,
  address: '127.0.0.1',
  request_id: 'req_1',
  details: '{"a": {"c": null, "d": [{"y": 2, "z": 1}]}, "b": 1}',
  count: '3',
  mac: '09fb9971723748cbdc8da824d3d994c4a38fea980fe557c0907669d49336c5b4',
};

describe('an event of version 1.0.0', () => {
  test('keeps its MAC', () => {
    const keys = eventKeys(createEncryption(['a-key-of-32-characters-for-tests']));
    expect(isEventSigned(keys, STORED)).toBe(true);
    expect(isEventSigned(keys, { ...STORED, team_id: 'tem_2' })).toBe(false);
  });

  test('keeps its hash, with and without a MAC', () => {
    expect(nextPosition(GENESIS, STORED)).toEqual({
      sequence: 1,
      hash: '7818531f22c262afd9f14f5cd24bb961ce93d1478f698133511abc2d4768a695',
    });
    expect(nextPosition(GENESIS, { ...STORED, mac: null })).toEqual({
      sequence: 1,
      hash: '62eadc4403ff6416825ffcd1d26d6ec895993572d8210d5757d22e614acd35f0',
    });
  });
});
