import { Paper, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { TeamPicture } from '../../components/picture.tsx';
import { membersTexts } from '../../messages/members.ts';
import { query, type Outputs } from '../../trpc.ts';
import { RoleBadge, TeamName } from './team-name.tsx';
import './team-cards.css';

type Team = Outputs['listTeams'][number];

/** A few teams. Each card is a link. */
export function TeamCards({ teams }: { readonly teams: readonly Team[] }) {
  const { data: sizes = [] } = useQuery(query('teams.sizes'));
  return (
    <ul className="team-cards">
      {teams.map((team) => (
        <TeamCard key={team.id} team={team} members={sizes.find(({ id }) => id === team.id)?.members} />
      ))}
    </ul>
  );
}

/** `members` is undefined while it loads, and for roles that cannot list them. */
const TeamCard = ({ team, members }: { readonly team: Team; readonly members: number | undefined }) => (
  <Paper component="li" withBorder radius="lg" className="team-card link-card">
    <div className="team-card-head">
      <TeamPicture name={team.name} src={team.avatarUrl} seed={team.id} size={44} />
      <TeamName team={team} />
    </div>
    <div className="team-card-foot">
      <RoleBadge team={team} />
      <Text size="sm" c="dimmed">
        {members !== undefined && membersTexts.table.count(members)}
      </Text>
    </div>
  </Paper>
);
