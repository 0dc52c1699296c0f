import { getRouteApi } from '@tanstack/react-router';
import { TextLink } from '../../components/links.tsx';
import { webhooksTexts as words } from '../../messages/webhooks.ts';
import { DeliveriesPage } from '../webhooks/deliveries-page.tsx';
import { WebhooksPage } from '../webhooks/webhooks-page.tsx';
import { useTeam } from './team.ts';

const route = getRouteApi('/console/teams/$teamId/webhooks/$endpointId');

/** The webhook endpoints of the team. */
export function TeamWebhooksPage() {
  const { team } = useTeam();
  return <WebhooksPage teamId={team.id} />;
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
  return <DeliveriesPage teamId={team.id} endpointId={endpointId} back={back} />;
}
