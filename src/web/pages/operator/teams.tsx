import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { getTeamName } from '../../components/display-name.ts';
import { areaTexts } from '../../messages/operator-area.ts';
import { query } from '../../trpc.ts';
import { CreateTeam } from './create-team.tsx';
import { Operators, VIEW } from './operators.tsx';
import { SearchPage, toPrefix } from './search-page.tsx';
import { teamColumns } from './team-columns.tsx';

const words = areaTexts.teams;
const route = getRouteApi('/console/operator/teams');

/** All teams, fifty per page. */
export const OperatorTeamsPage = () => (
  <Operators>
    <Teams />
  </Operators>
);

function Teams() {
  const search = route.useSearch();
  const { show, cursor } = search;
  const { data: plans = [] } = useQuery({ ...query('operator.plans'), staleTime: Infinity });
  const page = useQuery({
    ...query('operator.listTeams', {
      ...(show === undefined ? toPrefix(words.by, search) : { planId: show }),
      ...(cursor !== undefined && { cursor }),
    }),
    ...VIEW,
  });
  // A plan that is no longer configured still has its teams.
  const isKnown = show === undefined || plans.some(({ id }) => id === show);
  const shown = isKnown ? plans : [...plans, { id: show, name: show }];
  return (
    <SearchPage
      to="/operator/teams"
      words={words}
      filter={{
        label: areaTexts.subscription.plan,
        all: words.allPlans,
        options: shown.map(({ id, name }) => ({ value: id, label: name })),
      }}
      search={search}
      page={page}
      items={({ teams }) => teams}
      columns={teamColumns}
      rowName={getTeamName}
      create={(onClose) => <CreateTeam onClose={onClose} />}
    />
  );
}
