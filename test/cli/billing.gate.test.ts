import { describe, expect, test } from 'vitest';
import { rosterOfItsOwn } from './roster.ts';

const roster = await rosterOfItsOwn();

describe('billing set', () => {
  test('replaces the subscription: what is left out is as in a new one', async () => {
    const team = await roster.team(await roster.account());
    const set = (...args: string[]) => roster.json('billing', 'set', '--team', team.id, ...args);

    const full = await set(
      '--plan',
      'pro',
      '--status',
      'past_due',
      '--interval',
      'year',
      '--addon',
      'seats=3',
      '--addon',
      'storage=0',
      '--plan-expires-at',
      '2030-01-31T13:00:00+01:00',
      '--cancel-at-period-end',
      '--needs-payment-action',
    );
    const bare = await set('--plan', 'free');

    expect(full).toEqual({
      planId: 'pro',
      planName: 'Pro',
      status: 'past_due',
      interval: 'year',
      addons: { seats: 3, storage: 0 },
      planExpiresAt: '2030-01-31T12:00:00.000Z',
      cancelAtPeriodEnd: true,
      needsPaymentAction: true,
      version: 1,
    });
    expect(bare).toEqual({
      planId: 'free',
      planName: 'Free',
      status: null,
      interval: null,
      addons: {},
      planExpiresAt: null,
      cancelAtPeriodEnd: false,
      needsPaymentAction: false,
      version: 2,
    });
  });

  test('changes nothing if the subscription has another version', async () => {
    const team = await roster.team(await roster.account());
    const set = (plan: string, version: number) => [
      'billing',
      'set',
      '--team',
      team.id,
      '--plan',
      plan,
      '--if-version',
      String(version),
    ];
    await roster.json(...set('pro', 0));

    expect(await roster.refusal(...set('free', 0))).toBe('--if-version: The subscription has version 1.');
    expect(await roster.json(...set('free', 1))).toMatchObject({ planId: 'free' });
  });

  test('rejects unknown plans, states and teams, and units of add-ons that are no number', async () => {
    const team = await roster.team(await roster.account());
    const set = (...args: string[]) => roster.refusal('billing', 'set', '--team', team.id, ...args);

    const lines = await Promise.all([
      set('--plan', 'gold'),
      set('--plan', 'pro', '--status', 'paid'),
      set('--plan', 'pro', '--interval', 'week'),
      set('--plan', 'pro', '--addon', 'seats=-1'),
      roster.refusal('billing', 'set', '--team', 'team_none', '--plan', 'pro'),
    ]);

    expect(lines).toEqual([
      '--plan: There is no plan gold; the plans are free, pro.',
      expect.stringMatching(/--status.*Allowed choices are trialing, active, past_due, canceled, unpaid/),
      expect.stringMatching(/--interval.*Allowed choices are month, year/),
      expect.stringMatching(/--addon.*whole number from 0, such as seats=3/),
      '--team: Team not found.',
    ]);
    expect(await roster.rows('select plan_id from subscription where team_id = $1', [team.id])).toEqual([]);
  });
});
