import { Badge, Group, Text } from '@mantine/core';
import { TextLink } from '../../components/links.tsx';
import { Section } from '../../components/section.tsx';
import { operatorTexts } from '../../messages/operator.ts';
import type { Outputs } from '../../trpc.ts';
import { getRoleLabel } from '../../components/role-label.ts';
import { Name } from '../../components/name.tsx';

const words = operatorTexts.account;

type AccountTeamsProps = { readonly account: Outputs['operator']['account'] };

export const AccountTeams = ({ account: { teams, teamCount } }: AccountTeamsProps) => (
  <Section title={words.teams} explanation={words.teamsHint}>
    {teams.length === 0 ? (
      <Text size="sm" c="dimmed">
        {words.noTeams}
      </Text>
    ) : (
      <ul className="rows">
        {teams.map(({ id, name, role, isActive }) => (
          <li key={id} className="row">
            <div className="row-text">
              <TextLink to="/operator/teams/$teamId" params={{ teamId: id }} className="wrap">
                <Name>{name}</Name>
              </TextLink>
            </div>
            <Group gap="xs">
              {!isActive && (
                <Badge variant="light" color="gray" tt="none">
                  {words.inactive}
                </Badge>
              )}
              <Badge variant="light" color={role.id === 'owner' ? 'brand' : 'gray'} tt="none">
                <Name>{getRoleLabel(role.name)}</Name>
              </Badge>
            </Group>
          </li>
        ))}
      </ul>
    )}
    {teamCount > teams.length && (
      <Text size="sm" c="dimmed">
        {words.moreTeams(teamCount - teams.length)}
      </Text>
    )}
  </Section>
);
