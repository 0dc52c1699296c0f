import { Badge, Text } from '@mantine/core';
import { getTeamName } from '../../components/display-name.ts';
import { TextLink } from '../../components/links.tsx';
import { getRoleLabel } from '../../components/role-label.ts';
import type { Outputs } from '../../trpc.ts';
import { Name } from '../../components/name.tsx';

type TeamProps = { readonly team: Outputs['listTeams'][number] };

/** The name of a team, which leads to it, above its description. */
export const TeamName = ({ team: { slug, name, description } }: TeamProps) => (
  <div className="row-text">
    <TextLink to="/teams/$teamId" params={{ teamId: slug }} className="wrap">
      <Name>{getTeamName({ name })}</Name>
    </TextLink>
    {description !== null && description !== '' && (
      <Text size="sm" c="dimmed" lineClamp={2}>
        <Name>{description}</Name>
      </Text>
    )}
  </div>
);

/** The user’s role in a team. */
export const RoleBadge = ({ team: { role } }: TeamProps) => (
  <Badge variant="light" color={role.id === 'owner' ? 'brand' : 'gray'} tt="none" size="lg">
    <Name>{getRoleLabel(role.name)}</Name>
  </Badge>
);
