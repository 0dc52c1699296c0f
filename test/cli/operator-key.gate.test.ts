import { expect, test } from 'vitest';
import { OPERATOR_SCOPES } from '../../src/entities/index.ts';
import { anId, rosterOfItsOwn } from './roster.ts';

const roster = await rosterOfItsOwn();
const create = (name: string, scopes: string) => ['operator-key', 'create', '--name', name, '--scopes', scopes];
type Created = { key: { id: string; scopes: string[]; addresses: string[]; last4: string }; secret: string };

test('an operator key is created, listed, rotated and revoked, and each change is recorded', async () => {
  const created = await roster.json<Created>(
    ...create('Billing', 'billing:write,teams:read'),
    '--addresses',
    '10.0.0.0/8,2001:db8::1',
    '--expires-in-days',
    '30',
  );
  expect(created).toMatchObject({
    key: {
      id: anId('opk'),
      name: 'Billing',
      scopes: ['teams:read', 'billing:write'],
      addresses: ['10.0.0.0/8', '2001:db8::1/128'],
    },
    secret: expect.stringMatching(/^rst_ok_[0-9A-Za-z]{49}$/),
  });
  const { id } = created.key;
  expect(await roster.json('operator-key', 'list')).toEqual([created.key]);

  const rotated = await roster.json<Created>('operator-key', 'rotate', '--key', id, '--overlap-hours', '0');
  expect(rotated.secret).not.toBe(created.secret);
  expect(rotated.key).toEqual({ ...created.key, keyPrefix: expect.any(String), last4: rotated.secret.slice(-4) });
  expect(await roster.rows('select from operator_key_secret where expires_at is null')).toHaveLength(1);

  expect(await roster.json('operator-key', 'revoke', '--key', id)).toEqual({ success: true });
  expect(await roster.json('operator-key', 'list')).toEqual([]);
  const events = await roster.rows<{ event: string }>(
    `select event from audit_event where target_id = $1 and actor_kind = 'operator_cli' order by id`,
    [id],
  );
  expect(events.map(({ event }) => event)).toEqual([
    'operator_key.created',
    'operator_key.rotated',
    'operator_key.revoked',
  ]);
});

test('all scopes have a short name, and a wrong scope, address or key is named', async () => {
  const all = await roster.json<Created>(...create('All', 'all'));
  expect(all.key.scopes).toEqual(OPERATOR_SCOPES);
  expect(await roster.refusal(...create('x', 'profile:read'))).toContain('There is no scope profile:read');
  expect(await roster.refusal(...create('x', ','))).toContain('Name at least one scope');
  expect(await roster.refusal(...create('x', 'all'), '--addresses', '10.0.0.0/33')).toContain(
    '"10.0.0.0/33" is neither',
  );
  expect(await roster.refusal('operator-key', 'revoke', '--key', 'opk_none')).toContain('Operator key not found');
});
