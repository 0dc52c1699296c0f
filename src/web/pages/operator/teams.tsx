import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { getTeamName } from '../../components/display-name.ts';
import { Page } from '../../components/page.tsx';
import { areaTexts } from '../../messages/operator-area.ts';
import { query } from '../../trpc.ts';
import { CreateTeam } from './create-team.tsx';
import { ListSearch } from './list-search.tsx';
import { ListTable, Pager } from './list.tsx';
import { Operators, VIEW } from './operators.tsx';
import { teamColumns, type ListedTeam } from './team-columns.tsx';

const words = areaTexts.teams;
const route = getRouteApi('/console/operator/teams');

const rowId = ({ id }: ListedTeam): string => id;

type By = keyof typeof words.by;

/** All teams, fifty per page. */
export const OperatorTeamsPage = () => (
  <Operators>
    <Teams />
  </Operators>
);

function Teams() {
  const { by = 'name', text, cursor } = route.useSearch();
  const navigate = useNavigate();
  const [creating, setCreating] = useState(false);
  const field = Object.hasOwn(words.by, by) ? (by as By) : 'name';
  const page = useQuery({
    ...query('operator.listTeams', {
      ...(text !== undefined && { [field]: text }),
      ...(cursor !== undefined && { cursor }),
    }),
    ...VIEW,
  });
  return (
    <Page
      title={words.title}
      explanation={words.explanation}
      action={<Button onClick={() => setCreating(true)}>{words.create}</Button>}
    >
      <ListSearch
        fields={words.by}
        sought={text === undefined ? {} : { by: field, text }}
        onSearch={(search) => void navigate({ to: '/operator/teams', search })}
      />
      <ListTable
        label={words.title}
        page={page}
        items={({ teams }) => teams}
        columns={teamColumns}
        rowId={rowId}
        rowName={getTeamName}
        empty={
          text === undefined
            ? { title: areaTexts.list.emptyTitle, description: areaTexts.list.empty }
            : { title: areaTexts.list.noneTitle, description: areaTexts.list.none(text) }
        }
      />
      <Pager cursor={cursor} next={page.data?.nextCursor} />
      {creating && <CreateTeam onClose={() => setCreating(false)} />}
    </Page>
  );
}
