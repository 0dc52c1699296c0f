import { Badge, Group, Text } from '@mantine/core';
import { getTeamName } from '../../components/display-name.ts';
import { TextLink } from '../../components/links.tsx';
import type { Column } from '../../components/table/column.ts';
import { apiKeysTexts } from '../../messages/api-keys.ts';
import { areaTexts } from '../../messages/operator-area.ts';
import type { Outputs } from '../../trpc.ts';
import { Created } from './created.tsx';
import { Name } from '../../components/name.tsx';

export type ListedTeam = Outputs['operator']['listTeams']['teams'][number];

const words = areaTexts.teams;

/** A column of the list whose value is its text. */
const textColumn = (id: 'slug' | 'externalId' | 'planId', title: string): Column<ListedTeam> => ({
  id,
  title,
  value: (team) => team[id],
  cell: (team) =>
    team[id] !== null && (
      <Text size="sm" className="wrap">
        <Name>{team[id]}</Name>
      </Text>
    ),
  width: '18%',
  isLabelled: true,
});

/** The columns of the list of teams. */
export const teamColumns: readonly Column<ListedTeam>[] = [
  { id: 'name', title: words.by.name, value: getTeamName, cell: (team) => <TeamName team={team} /> },
  { id: 'id', title: 'ID', value: ({ id }) => id, cell: ({ id }) => id, isExportOnly: true },
  textColumn('slug', words.by.slug),
  textColumn('externalId', words.by.externalId),
  textColumn('planId', areaTexts.subscription.plan),
  {
    id: 'createdAt',
    title: apiKeysTexts.createdColumn,
    value: ({ createdAt }) => createdAt,
    cell: ({ createdAt }) => <Created at={createdAt} />,
    width: '14%',
    isLabelled: true,
  },
];

function TeamName({ team }: { readonly team: ListedTeam }) {
  return (
    <Group gap="xs">
      <TextLink to="/operator/teams/$teamId" params={{ teamId: team.id }} preload={false} className="wrap">
        <Name>{getTeamName(team)}</Name>
      </TextLink>
      {team.ownerId === null && (
        <Badge variant="light" color="yellow" tt="none">
          {words.noOwner}
        </Badge>
      )}
    </Group>
  );
}
