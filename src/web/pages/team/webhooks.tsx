import { Alert } from '@mantine/core';
import { getRouteApi } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { TextLink } from '../../components/links.tsx';
import { Page } from '../../components/page.tsx';
import { webhooksTexts as words } from '../../messages/webhooks.ts';
import { DeliveriesPage } from '../webhooks/deliveries-page.tsx';
import { WebhooksPage } from '../webhooks/webhooks-page.tsx';
import { useTeam } from './team.ts';

const route = getRouteApi('/console/teams/$teamId/webhooks/$endpointId');

/** The webhook endpoints of the team. */
export function TeamWebhooksPage() {
  const { team } = useTeam();
  return (
    <Editors>
      <WebhooksPage teamId={team.id} />
    </Editors>
  );
}

/** The deliveries of an endpoint of the team. */
export function TeamDeliveriesPage() {
  const { team } = useTeam();
  const { endpointId } = route.useParams();
  const back = (
    <TextLink to="/teams/$teamId/webhooks" params={{ teamId: team.slug }}>
      {words.back}
    </TextLink>
  );
  return (
    <Editors>
      <DeliveriesPage teamId={team.id} endpointId={endpointId} back={back} />
    </Editors>
  );
}

/** Only for members who can change the settings of the team, which the service checks in each call. */
function Editors({ children }: { readonly children: ReactNode }) {
  const { can } = useTeam();
  if (can('edit_team_settings')) return children;
  return (
    <Page title={words.title}>
      <Alert color="gray" title={words.notAllowedTitle}>
        {words.notAllowed}
      </Alert>
    </Page>
  );
}
