import { Avatar, Badge, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link, Outlet } from '@tanstack/react-router';
import { FailureAlert } from '../../parts/failure-alert.tsx';
import { ButtonLink } from '../../parts/links.tsx';
import { LoadingPage, Page } from '../../parts/page.tsx';
import { texts } from '../../texts.ts';
import { teamTexts as words } from '../../texts/team.ts';
import { failureOf, query } from '../../trpc.ts';
import { TeamContext, type Permission, type Role, type Team } from './team.ts';
import './team.css';

const route = getRouteApi('/people/teams/$teamId');

/** What all pages of a team have: its name, and the way to the others. */
export function TeamLayout() {
  const { teamId } = route.useParams();
  const team = useQuery(query('getTeam', { teamId }));
  const roles = useQuery(query('listTeamRoles', { teamId }));
  const error = team.error ?? roles.error;
  if (team.data !== undefined && roles.data !== undefined) return <TeamFrame team={team.data} roles={roles.data} />;
  if (error === null) return <LoadingPage />;
  return (
    <Page title={words.failedTitle}>
      <FailureAlert
        failure={failureOf(error)}
        retry={() => {
          void team.refetch();
          void roles.refetch();
        }}
      />
      <ButtonLink to="/" variant="default">
        {texts.toTeams}
      </ButtonLink>
    </Page>
  );
}

function TeamFrame({ team, roles }: { readonly team: Team; readonly roles: readonly Role[] }) {
  const permissions = roles.find(({ roleId }) => roleId === team.role.id)?.permissions ?? [];
  const can = (permission: Permission) => permissions.includes(permission);
  return (
    <TeamContext value={{ team, roles, can }}>
      <div className="team-head">
        <Avatar name={team.name} src={team.avatarUrl} color="blue" radius="md" size="sm" aria-hidden />
        <Text fw={600} className="wrap">
          {team.name}
        </Text>
        <Badge variant="light" color={team.role.id === 'owner' ? 'blue' : 'gray'} tt="none">
          {team.role.name}
        </Badge>
      </div>
      <TeamNavigation teamId={team.id} can={can} />
      <Outlet />
    </TeamContext>
  );
}

type NavigationProps = { readonly teamId: string; readonly can: (permission: Permission) => boolean };

const TeamNavigation = ({ teamId, can }: NavigationProps) => (
  <nav aria-label={words.navigation} className="team-nav">
    <Link to="/teams/$teamId" params={{ teamId }} activeOptions={{ exact: true }}>
      {words.overview}
    </Link>
    <Link to="/teams/$teamId/members" params={{ teamId }}>
      {words.members}
    </Link>
    <Link to="/teams/$teamId/invitations" params={{ teamId }}>
      {words.invitations}
    </Link>
    <Link to="/teams/$teamId/roles" params={{ teamId }}>
      {words.roles}
    </Link>
    {can('manage_api_keys') && (
      <Link to="/teams/$teamId/api-keys" params={{ teamId }}>
        {words.apiKeys}
      </Link>
    )}
    {can('access_billing') && (
      <Link to="/teams/$teamId/billing" params={{ teamId }}>
        {words.billing}
      </Link>
    )}
    <Link to="/teams/$teamId/settings" params={{ teamId }}>
      {words.settings}
    </Link>
  </nav>
);
