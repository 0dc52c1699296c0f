import { Alert } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { FailureAlert } from '../../components/failure-alert.tsx';
import { Page } from '../../components/page.tsx';
import { activityQuery } from '../../page-queries.ts';
import { overviewTexts as words } from '../../messages/team.ts';
import { toFailure, query } from '../../trpc.ts';
import { Activity } from './overview/activity.tsx';
import { Cards, CardsPlaceholder } from './overview/cards.tsx';
import { FirstSteps } from './overview/first-steps.tsx';
import { Growth } from './overview/growth.tsx';
import { Notices } from './overview/notices.tsx';
import { Requests } from './overview/requests.tsx';
import { useTeam } from './team.ts';
import './overview/overview.css';
import { getRoleLabel } from '../../components/role-label.ts';
import { Name } from '../../components/name.tsx';

/** Numbers of the team that the user’s role can see, and first steps. */
export function OverviewPage() {
  const { team, can } = useTeam();
  const overview = useQuery(query('teams.overview', { teamId: team.id }));
  const usage = useQuery({ ...query('apiKeys.usageOfTeam', { teamId: team.id }), enabled: can('manage_api_keys') });
  // All at once, so that they travel in one request.
  const growth = useQuery({ ...query('members.history', { teamId: team.id }), enabled: can('access_dashboard') });
  const activity = useQuery({ ...activityQuery(team.id), enabled: can('edit_team_settings') });
  const retry = () => {
    for (const part of [overview, usage, growth, activity]) if (part.isError) void part.refetch();
  };
  const written = team.description?.trim() ?? '';
  const description = written === '' ? '' : <Name>{written}</Name>;
  return (
    <Page isWide title={words.title} explanation={description === '' ? undefined : description}>
      {!can('access_dashboard') && (
        <Alert color="gray" title={words.hiddenTitle}>
          {words.hidden(getRoleLabel(team.role.name))}
        </Alert>
      )}
      {overview.error !== null && <FailureAlert failure={toFailure(overview.error)} retry={retry} />}
      {overview.isPending && <CardsPlaceholder />}
      {overview.data !== undefined && (
        <>
          <Notices overview={overview.data} />
          <Cards overview={overview.data} />
          <FirstSteps overview={overview.data} />
          {/* Last and after the numbers, so that nothing moves while the page loads. */}
          {overview.data.apiKeys !== null && <Requests usage={usage} keys={overview.data.apiKeys} />}
          {can('access_dashboard') && <Growth history={growth} />}
          {can('edit_team_settings') && <Activity page={activity} />}
        </>
      )}
    </Page>
  );
}
