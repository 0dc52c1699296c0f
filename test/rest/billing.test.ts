import { describe, expect } from 'vitest';
import { test } from '../support/api.ts';

describe('getTeamBilling', () => {
  test('200: a team without a subscription is on the plan free', async ({ api }) => {
    const owner = await api.anAccount();
    const team = await api.aTeam({ owner });
    const key = await api.anApiKey(owner, { scopes: ['billing:read'] });

    expect((await api.as(key).get(`/api/v1/teams/${team.id}/billing`)).body).toEqual({
      planId: 'free',
      planName: 'Free',
      status: null,
      interval: null,
      addons: {},
      planExpiresAt: null,
      cancelAtPeriodEnd: false,
      needsPaymentAction: false,
    });
  });

  test('200: the subscription as it stands', async ({ api }) => {
    const owner = await api.anAccount();
    const team = await api.aTeam({ owner });
    await api.aSubscription(team, { plan: 'pro', seats: 3 });
    await api.rows(
      `update subscription set plan_expires_at = '2030-01-02T03:04:05Z', cancel_at_period_end = true where team_id = $1`,
      [team.id],
    );
    const key = await api.anApiKey(owner, { scopes: ['billing:read'] });

    expect((await api.as(key).get(`/api/v1/teams/${team.id}/billing`)).body).toEqual({
      planId: 'pro',
      planName: 'Pro',
      status: 'active',
      interval: 'month',
      addons: { seats: 3 },
      planExpiresAt: '2030-01-02T03:04:05.000Z',
      cancelAtPeriodEnd: true,
      needsPaymentAction: false,
    });
  });
});
