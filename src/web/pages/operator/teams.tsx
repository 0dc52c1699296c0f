import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { getTeamName } from '../../components/display-name.ts';
import { areaTexts } from '../../messages/operator-area.ts';
import { query } from '../../trpc.ts';
import { CreateTeam } from './create-team.tsx';
import { downloadList } from './download-list.ts';
import { useListOrder } from './list-order.ts';
import { Operators, VIEW } from './operators.tsx';
import { SearchPage, toField, toPrefix } from './search-page.tsx';
import { teamColumns } from './team-columns.tsx';
import { neutralize } from '../../../messages/neutralize.ts';

const words = areaTexts.teams;
/** A search has the order of its field, and a plan that of the creation. */
const ORDERS = ['createdAt', 'name', 'slug'] as const;
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
  const field = show === undefined ? toField(words.by, search) : 'createdAt';
  const { input: sort, order } = useListOrder(field === undefined ? ORDERS : [field]);
  const input = { ...(show === undefined ? toPrefix(words.by, search) : { planId: show }), ...sort };
  const page = useQuery({
    ...query('operator.listTeams', { ...input, ...(cursor !== undefined && { cursor }) }),
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
        options: shown.map(({ id, name }) => ({ value: id, label: neutralize(name) })),
      }}
      search={search}
      page={page}
      order={order}
      download={() => downloadList('teams', input)}
      items={({ teams }) => teams}
      columns={teamColumns}
      rowName={getTeamName}
      create={(onClose) => <CreateTeam onClose={onClose} />}
    />
  );
}
