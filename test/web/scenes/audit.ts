import { signedIn } from '../../support/browser.ts';
import { shown, type Scene } from './scene.ts';

/** The audit log of a team. */
export const audit: readonly Scene[] = [
  [
    'audit-empty',
    async (api, open) => {
      const owner = await api.anAccount();
      const team = await api.aTeam({ owner });
      return shown(await open(`/teams/${team.id}/audit`, owner), 'Audit log');
    },
  ],
  [
    'audit',
    async (api, open) => {
      const owner = await api.anAccount({ firstName: 'Wolfeschlegelsteinhausenbergerdorff', lastName: 'Senior' });
      const team = await api.aTeam({ owner });
      const { trpc } = await signedIn(api, owner);
      const teamId = team.id;
      await trpc.roles.create.mutate({ teamId, name: 'Everybodywhomayinviteandremove', permissions: [] });
      await trpc.createApiKey.mutate({ name: 'Nightly export', scopes: ['teams:read'], teamId });
      await trpc.updateTeam.mutate({ teamId, name: 'Kites' });
      await api.rows(
        `insert into audit_event (id, occurred_at, event, actor_kind, team_id, actor_id, address, request_id, details, count)
         values ('evt_zzz', now(), 'access.denied', 'session', $1, $2, '2001:db8:85a3:8d3:1319:8a2e:370:7348', $3, '{}', 17)`,
        [teamId, owner.id, 'r'.repeat(128)],
      );
      const page = await open(`/teams/${teamId}/audit`, owner);
      await page.getByRole('rowheader').nth(3).waitFor();
      return page;
    },
  ],
];
