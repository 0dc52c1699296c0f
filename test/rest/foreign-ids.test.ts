import { describe, expect } from 'vitest';
import { test, type Api } from '../support/api.ts';
import { everyScope, expectAlike, expectRefusals, NO_TEAM, type Attempt } from './attempts.ts';
import { operationOf } from './operations.ts';

/** A team of somebody else's, with one of everything in it. */
async function elsewhere(api: Api) {
  const stranger = await api.anAccount();
  const team = await api.aTeam({ owner: stranger });
  const [key, teamKey, invitation, session] = await Promise.all([
    api.anApiKey(stranger),
    api.anApiKey(stranger, { team }),
    api.anInvitation(team),
    api.aSession(stranger),
  ]);
  return { stranger, team, key, teamKey, invitation, session };
}

// Each changes what its own world holds before the call; a standing of its own keeps that world apart.
const changing = (sql: string, id: string): Pick<Attempt, 'credential'> => ({
  credential: async (api, world, kind) => {
    await api.rows(sql, [world.ids[id]]);
    return everyScope(api, world, kind);
  },
});

describe('what is another’s, or over, answers like what never was', () => {
  test.for(['updateApiKey', 'revokeApiKey'])('%s', async (id, { api }) => {
    const { key, teamKey } = await elsewhere(api);
    const NO_KEY = '404 api_key_not_found';
    const revoke = changing('update api_key set revoked_at = now() where id = $1', 'keyId');

    const answers = await expectRefusals(api, operationOf(id), {
      unknown: [NO_KEY, { ids: { keyId: 'key_unknown' } }],
      'of another account': [NO_KEY, { ids: { keyId: key.id } }],
      'of another account’s team': [NO_KEY, { ids: { keyId: teamKey.id } }],
      revoked: [NO_KEY, { ...revoke, standing: 'guest' }],
    });

    expectAlike(answers);
  });

  test('revokeTeamInvitation', async ({ api }) => {
    const { invitation } = await elsewhere(api);
    const NO_INVITATION = '404 invitation_not_found';
    const accept = changing('update invitation set accepted_at = now() where id = $1', 'invitationId');
    const expire = changing(`update invitation set expires_at = now() - interval '1 s' where id = $1`, 'invitationId');

    const answers = await expectRefusals(api, operationOf('revokeTeamInvitation'), {
      unknown: [NO_INVITATION, { ids: { invitationId: 'invt_unknown' } }],
      'of another team': [NO_INVITATION, { ids: { invitationId: invitation.id } }],
      accepted: [NO_INVITATION, { ...accept, standing: ['invite_members'] }],
      expired: [NO_INVITATION, { ...expire, standing: ['invite_members', 'access_dashboard'] }],
    });

    expectAlike(answers);
  });

  test('removeTeamMember', async ({ api }) => {
    const { stranger, team } = await elsewhere(api);
    const NO_MEMBER = '404 member_not_found';

    const answers = await expectRefusals(api, operationOf('removeTeamMember'), {
      unknown: [NO_MEMBER, { ids: { userId: 'acc_unknown' } }],
      'of another team': [NO_MEMBER, { ids: { userId: stranger.id } }],
    });
    await expectRefusals(api, operationOf('removeTeamMember'), {
      'their team': [NO_TEAM, { ids: { teamId: team.id, userId: stranger.id } }],
    });

    expectAlike(answers);
  });

  test('revokeMySession succeeds and changes nothing', async ({ api }) => {
    const { session } = await elsewhere(api);
    const key = await api.anApiKey(await api.anAccount(), { scopes: ['profile:write'] });

    const answers = await Promise.all(
      [session.id, 'ses_unknown'].map((id) => api.as(key).delete(`/api/v1/me/sessions/${id}`)),
    );

    expectAlike(answers);
    expect(answers[0]?.body).toEqual({ success: true });
    expect(await api.rows('select revoked_at from session where id = $1', [session.id])).toEqual([
      { revoked_at: null },
    ]);
  });
});
