import { getTeamName } from '../../components/display-name.ts';
import { People } from '../../components/icon.tsx';
import { TeamPicture } from '../../components/picture.tsx';
import { getRoleLabel } from '../../components/role-label.ts';
import type { Column } from '../../components/table/column.ts';
import { DataTable } from '../../components/table/data-table.tsx';
import { texts } from '../../messages/console.ts';
import { membersTexts } from '../../messages/members.ts';
import type { Outputs } from '../../trpc.ts';
import { TeamCards } from './team-cards.tsx';
import { RoleBadge, TeamName } from './team-name.tsx';
import '../team/members.css';

type Team = Outputs['listTeams'][number];

/** Fewer teams are found at a glance, without a search and filters. */
const TABLE_MIN = 8;

const rowId = ({ id }: Team): string => id;

/** The teams of the user, as a table if there are many. */
export const TeamList = ({ teams }: { readonly teams: readonly Team[] }) =>
  teams.length < TABLE_MIN ? (
    <TeamCards teams={teams} />
  ) : (
    <DataTable
      name={texts.home.title}
      rows={teams}
      columns={columns}
      rowId={rowId}
      rowName={getTeamName}
      texts={texts.home.table}
      icon={<People />}
    />
  );

const columns: readonly Column<Team>[] = [
  {
    id: 'team',
    title: texts.home.name,
    value: getTeamName,
    cell: (team) => (
      <div className="member-who">
        <TeamPicture name={team.name} src={team.avatarUrl} seed={team.id} size={36} />
        <TeamName team={team} />
      </div>
    ),
    search: ({ name, description }) => `${name} ${description ?? ''}`,
  },
  {
    id: 'role',
    title: membersTexts.role,
    value: ({ role }) => getRoleLabel(role.name),
    cell: (team) => <RoleBadge team={team} />,
    width: '28%',
  },
];
