import { getRouteApi } from '@tanstack/react-router';
import { TextLink } from '../../components/links.tsx';
import { webhooksTexts as words } from '../../messages/webhooks.ts';
import { DeliveriesPage } from '../webhooks/deliveries-page.tsx';
import { WebhooksPage } from '../webhooks/webhooks-page.tsx';
import { BackToSearch, Operators } from './operators.tsx';

const route = getRouteApi('/console/operator/webhooks/$endpointId');

/** The webhook endpoints of the installation. */
export const OperatorWebhooksPage = () => (
  <Operators>
    <BackToSearch />
    <WebhooksPage teamId={null} />
  </Operators>
);

/** The deliveries of an endpoint of the installation. */
export function OperatorDeliveriesPage() {
  const { endpointId } = route.useParams();
  const back = <TextLink to="/operator/webhooks">{words.back}</TextLink>;
  return (
    <Operators>
      <DeliveriesPage teamId={null} endpointId={endpointId} back={back} />
    </Operators>
  );
}
