import { Badge, Button, Group, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { getTeamName } from '../../components/display-name.ts';
import { TextLink } from '../../components/links.tsx';
import { Page } from '../../components/page.tsx';
import { areaTexts } from '../../messages/operator-area.ts';
import { query, type Outputs } from '../../trpc.ts';
import { CreateTeam } from './create-team.tsx';
import { ListSearch } from './list-search.tsx';
import { List, Pager } from './list.tsx';
import { Operators, VIEW } from './operators.tsx';

const words = areaTexts.teams;
const route = getRouteApi('/console/operator/teams');

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
      <List
        label={words.title}
        page={page}
        items={({ teams }) => teams}
        row={(team) => <TeamRow key={team.id} team={team} />}
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

const TeamRow = ({ team }: { readonly team: Outputs['operator']['listTeams']['teams'][number] }) => (
  <li className="row">
    <div className="row-text">
      <TextLink to="/operator/teams/$teamId" params={{ teamId: team.id }} preload={false} fw={600} className="wrap">
        {getTeamName(team)}
      </TextLink>
      <Text size="sm" c="dimmed" className="wrap">
        {[team.slug, team.externalId].filter(Boolean).join(' · ')}
      </Text>
    </div>
    <Group gap="xs">
      {team.ownerId === null && (
        <Badge variant="light" color="yellow" tt="none">
          {words.noOwner}
        </Badge>
      )}
      <Badge variant="light" color="gray" tt="none">
        {team.planId}
      </Badge>
    </Group>
  </li>
);
