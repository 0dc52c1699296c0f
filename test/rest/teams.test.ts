import { describe, expect } from 'vitest';
import { test } from '../support/api.ts';

describe('getTeam', () => {
  test('200: the team with the caller’s role', async ({ api }) => {
    const owner = await api.anAccount();
    const team = await api.aTeam({ owner, name: 'Rockets' });
    const key = await api.anApiKey(owner, { scopes: ['teams:read'] });

    const answer = await api.as(key).get(`/api/v1/teams/${team.id}`);

    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({
      id: team.id,
      name: 'Rockets',
      slug: team.slug,
      description: null,
      avatarUrl: null,
      role: { id: 'owner', name: 'Owner' },
    });
  });
});
