import { Badge, Group, NativeSelect, Text } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi, Link, Outlet, useMatches, useNavigate } from '@tanstack/react-router';
import { useEffect } from 'react';
import { FailureAlert } from '../../components/failure-alert.tsx';
import { ButtonLink } from '../../components/links.tsx';
import { TitleContext } from '../../components/page-title.ts';
import { LoadingPage, Page } from '../../components/page.tsx';
import { TeamPicture } from '../../components/picture.tsx';
import { getTeamName } from '../../components/display-name.ts';
import { texts } from '../../messages/console.ts';
import { teamTexts as words } from '../../messages/team.ts';
import { toFailure, query } from '../../trpc.ts';
import { isAbout } from './refresh.ts';
import { TeamContext, type Permission, type Role, type Team } from './team.ts';
import './team.css';

const route = getRouteApi('/console/teams/$teamId');

/** The name and navigation of all pages of a team. */
export function TeamLayout() {
  const { teamId } = route.useParams();
  const team = useQuery(query('getTeam', { teamId }));
  const permissions = useQuery(query('teams.permissions', { teamId }));
  const seesRoles = permissions.data?.includes('access_dashboard') ?? false;
  const roles = useQuery({ ...query('listTeamRoles', { teamId }), enabled: seesRoles });
  const parts = seesRoles ? [team, permissions, roles] : [team, permissions];
  useDepartures(teamId);
  const error = parts.find((part) => part.error !== null && (part.data === undefined || isGone(part.error)))?.error;
  if (error !== undefined && error !== null) {
    return <FailedTeam error={error} retry={() => parts.forEach((part) => void part.refetch())} />;
  }
  if (team.data === undefined || permissions.data === undefined || (seesRoles && roles.data === undefined)) {
    return <LoadingPage />;
  }
  return <TeamFrame team={team.data} permissions={permissions.data} roles={roles.data ?? []} />;
}

const isGone = (error: unknown): boolean => toFailure(error).code === 'team_not_found';

/** Updates the whole layout once a query finds that the team was deleted or the user removed. */
function useDepartures(teamId: string): void {
  const queries = useQueryClient();
  useEffect(
    () =>
      queries.getQueryCache().subscribe((event) => {
        if (event.type !== 'updated' || event.action.type !== 'error' || !isGone(event.action.error)) return;
        const [path, input] = event.query.queryKey;
        if (!isAbout(input, teamId)) return;
        void queries.invalidateQueries(query('listTeams'));
        if (path !== 'getTeam') void queries.invalidateQueries(query('getTeam', { teamId }));
      }),
    [queries, teamId],
  );
}

function FailedTeam({ error, retry }: { readonly error: Error; readonly retry: () => void }) {
  const isOver = isGone(error);
  return (
    <Page title={isOver ? words.goneTitle : words.failedTitle} explanation={isOver ? words.gone : undefined}>
      <FailureAlert failure={toFailure(error)} retry={isOver ? undefined : retry} />
      <Group>
        <ButtonLink to="/" variant="default">
          {texts.toTeams}
        </ButtonLink>
      </Group>
    </Page>
  );
}

type TeamFrameProps = {
  readonly team: Team;
  readonly permissions: readonly Permission[];
  readonly roles: readonly Role[];
};

function TeamFrame({ team, permissions, roles }: TeamFrameProps) {
  const can = (permission: Permission) => permissions.includes(permission);
  return (
    <TitleContext value={team.name}>
      <TeamContext value={{ team, roles, can }}>
        <div className="team-head">
          <TeamPicture name={team.name} src={team.avatarUrl} size="sm" />
          <div className="team-head-text">
            <TeamSwitch current={team} />
            <Badge variant="light" color={team.role.id === 'owner' ? 'blue' : 'gray'} tt="none" className="team-role">
              <bdi>{team.role.name}</bdi>
            </Badge>
          </div>
        </div>
        <TeamNavigation teamId={team.id} can={can} />
        <Outlet />
      </TeamContext>
    </TitleContext>
  );
}

/** The name of the team. With several teams, links to the same page of the others. */
function TeamSwitch({ current }: { readonly current: Team }) {
  const { data: teams = [] } = useQuery(query('listTeams'));
  const navigate = useNavigate();
  const pages = useMatches();
  if (teams.length < 2) {
    return (
      <Text fw={600} className="wrap">
        <bdi>{getTeamName(current)}</bdi>
      </Text>
    );
  }
  const page = pages.at(-1)?.fullPath as '/teams/$teamId'; // or another page of a team, which has no other params
  return (
    <NativeSelect
      size="sm"
      aria-label={words.switch}
      className="team-switch"
      value={current.id}
      onChange={(event) => void navigate({ to: page, params: { teamId: event.currentTarget.value } })}
      data={teams.map(({ id, name }) => ({ value: id, label: getTeamName({ name }) }))}
    />
  );
}

type NavigationProps = { readonly teamId: string; readonly can: (permission: Permission) => boolean };

const TeamNavigation = ({ teamId, can }: NavigationProps) => (
  <nav aria-label={words.navigation} className="team-nav">
    <Link to="/teams/$teamId" params={{ teamId }} activeOptions={{ exact: true }}>
      {words.overview}
    </Link>
    {can('access_dashboard') && (
      <Link to="/teams/$teamId/members" params={{ teamId }}>
        {words.members}
      </Link>
    )}
    {can('invite_members') && (
      <Link to="/teams/$teamId/invitations" params={{ teamId }}>
        {words.invitations}
      </Link>
    )}
    {can('access_dashboard') && (
      <Link to="/teams/$teamId/roles" params={{ teamId }}>
        {words.roles}
      </Link>
    )}
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
    {can('edit_team_settings') && (
      <Link to="/teams/$teamId/webhooks" params={{ teamId }}>
        {words.webhooks}
      </Link>
    )}
    {can('edit_team_settings') && (
      <Link to="/teams/$teamId/audit" params={{ teamId }}>
        {words.audit}
      </Link>
    )}
    <Link to="/teams/$teamId/settings" params={{ teamId }}>
      {words.settings}
    </Link>
  </nav>
);
