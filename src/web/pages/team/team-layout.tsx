import { isAboutTeam, useRoles } from '#client/react';
import { Group } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useEffect } from 'react';
import { FailureAlert } from '../../components/failure-alert.tsx';
import { GuardedOutlet } from '../../components/guarded-outlet.tsx';
import { ButtonLink } from '../../components/links.tsx';
import { TitleContext } from '../../components/page-title.ts';
import { LoadingPage, Page } from '../../components/page.tsx';
import { texts } from '../../messages/console.ts';
import { teamTexts as words } from '../../messages/team.ts';
import { toFailure, query } from '../../trpc.ts';
import { TeamContext, type Permission, type Role, type Team } from './team.ts';

const route = getRouteApi('/console/teams/$teamId');

/** Provides the team to its pages. */
export function TeamLayout() {
  const { teamId } = route.useRouteContext();
  const team = useQuery(query('getTeam', { teamId }));
  const permissions = useQuery(query('teams.permissions', { teamId }));
  const seesRoles = permissions.data?.includes('access_dashboard') ?? false;
  const roles = useRoles(seesRoles ? teamId : null);
  const parts = seesRoles ? [team, permissions, roles] : [team, permissions];
  useDepartures(teamId);
  const error = parts.find((part) => part.error !== null && (part.data === undefined || isGone(part.error)))?.error;
  if (error !== undefined && error !== null) {
    return <FailedTeam error={error} retry={() => parts.forEach((part) => void part.refetch())} />;
  }
  if (team.data === undefined || permissions.data === undefined || (seesRoles && roles.data === undefined)) {
    return <LoadingPage />;
  }
  return <TeamPages team={team.data} permissions={permissions.data} roles={roles.data ?? []} />;
}

const isGone = (error: unknown): boolean => toFailure(error).code === 'team_not_found';

/** Updates the whole layout once a query finds that the team was deleted or the user removed. */
function useDepartures(teamId: string): void {
  const queries = useQueryClient();
  useEffect(
    () =>
      queries.getQueryCache().subscribe((event) => {
        if (event.type !== 'updated' || event.action.type !== 'error' || !isGone(event.action.error)) return;
        const { queryKey } = event.query;
        if (!isAboutTeam(queryKey, teamId)) return;
        void queries.invalidateQueries(query('listTeams'));
        if (queryKey[1] !== 'getTeam') void queries.invalidateQueries(query('getTeam', { teamId }));
      }),
    [queries, teamId],
  );
}

function FailedTeam({ error, retry }: { readonly error: Error; readonly retry: () => void }) {
  const isOver = isGone(error);
  return (
    <Page title={isOver ? words.goneTitle : words.failedTitle} explanation={isOver ? words.gone : undefined}>
      {!isOver && <FailureAlert failure={toFailure(error)} retry={retry} />}
      <Group>
        <ButtonLink to="/" variant="default">
          {texts.toTeams}
        </ButtonLink>
      </Group>
    </Page>
  );
}

type TeamPagesProps = {
  readonly team: Team;
  readonly permissions: readonly string[];
  readonly roles: readonly Role[];
};

function TeamPages({ team, permissions, roles }: TeamPagesProps) {
  const names = new Set(permissions);
  const holds = (permission: string) => names.has(permission);
  const can: (permission: Permission) => boolean = holds;
  return (
    <TitleContext value={team.name}>
      <TeamContext value={{ team, roles, can, holds }}>
        <GuardedOutlet permissions={permissions} roles={roles} />
      </TeamContext>
    </TitleContext>
  );
}
