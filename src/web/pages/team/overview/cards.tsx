import { Group, Paper, Progress, Skeleton, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { useDates } from '../../../components/dates.ts';
import { TextLink } from '../../../components/links.tsx';
import { texts } from '../../../messages/console.ts';
import { overviewTexts as words } from '../../../messages/team.ts';
import type { Outputs } from '../../../trpc.ts';
import { useTeam } from '../team.ts';

export type Overview = Outputs['teams']['overview'];

type CardsProps = { readonly overview: Overview };

export function Cards({ overview }: CardsProps) {
  const { number } = useDates();
  const { members, invitations, apiKeys } = overview;
  return (
    <ul className="overview-cards">
      {members !== null && (
        <Card to="/teams/$teamId/members" label={words.members} value={number(members)}>
          {words.membersHint(members)}
        </Card>
      )}
      {invitations !== null && (
        <Card to="/teams/$teamId/invitations" label={words.invitations} value={number(invitations)}>
          {words.invitationsHint(invitations)}
        </Card>
      )}
      {apiKeys !== null && (
        <Card to="/teams/$teamId/api-keys" label={words.apiKeys} value={number(apiKeys)}>
          {words.apiKeysHint(apiKeys)}
        </Card>
      )}
      <Seats overview={overview} />
    </ul>
  );
}

type CardProps = {
  readonly to: `/teams/$teamId/${'members' | 'invitations' | 'api-keys'}`;
  readonly label: string;
  readonly value: ReactNode;
  readonly children: ReactNode;
};

/** A labeled number. The whole card is a link. */
function Card({ to, label, value, children }: CardProps) {
  const { team } = useTeam();
  return (
    <Paper component="li" withBorder radius="lg" className="overview-card link-card">
      <Text component="div" size="sm" fw={600}>
        <TextLink to={to} params={{ teamId: team.slug }} underline="hover">
          {label}
        </TextLink>
      </Text>
      <Text component="div" className="overview-value">
        {value}
      </Text>
      <Text component="div" size="sm" c="dimmed">
        {children}
      </Text>
    </Paper>
  );
}

/** The used seats and, for roles that can see it, the plan that they come with. */
function Seats({ overview: { taken, seats, planName } }: CardsProps) {
  const { team, can } = useTeam();
  return (
    <Paper component="li" withBorder radius="lg" className="overview-card overview-seats link-card">
      <Group justify="space-between" gap="xs">
        <Text component="div" size="sm" fw={600}>
          {words.seats}
        </Text>
        {can('access_billing') && (
          <Text component="div" size="sm">
            <TextLink to="/teams/$teamId/billing" params={{ teamId: team.slug }} underline="hover">
              {words.plan(planName)}
            </TextLink>
          </Text>
        )}
      </Group>
      <Text component="div" className="overview-value">
        {words.taken({ taken, seats })}
      </Text>
      <Progress.Root size="sm">
        <Progress.Section
          value={Math.min(100, (taken / seats) * 100)}
          color={taken >= seats ? 'red' : 'brand'}
          aria-label={words.seatsBar}
        />
      </Progress.Root>
      <Text component="div" size="sm" c="dimmed">
        {taken > seats ? words.overSeats(taken - seats) : words.seatsHint(seats - taken)}
      </Text>
    </Paper>
  );
}

/** Shows placeholders with about the number and height of the cards. */
export function CardsPlaceholder() {
  const { can } = useTeam();
  const cards = (['access_dashboard', 'invite_members', 'manage_api_keys'] as const).filter(can);
  return (
    <div className="overview-cards" role="status" aria-label={texts.loading}>
      {cards.map((card) => (
        <Skeleton key={card} height={119} radius="lg" />
      ))}
      <Skeleton height={135} radius="lg" className="overview-seats" />
    </div>
  );
}
