import { Badge, Group, Menu, Text } from '@mantine/core';
import { useDates } from '../../components/dates.ts';
import { FailureAlert } from '../../components/failure-alert.tsx';
import { TextLink } from '../../components/links.tsx';
import { RowMenu } from '../../components/row-menu.tsx';
import { webhooksTexts as words } from '../../messages/webhooks.ts';
import { toFailure } from '../../trpc.ts';
import { useChange } from './change.ts';
import { EndpointDialog, type DialogName } from './endpoint-dialog.tsx';
import type { Endpoint, TeamId } from './endpoints.ts';
import { SEPARATOR } from '../../messages/language.ts';
import { useKept } from '../../kept.ts';
import { Name } from '../../components/name.tsx';

const COLORS = { active: 'teal', failing: 'red', paused: 'gray', disabled: 'red' } as const;

type EndpointRowProps = { readonly teamId: TeamId; readonly endpoint: Endpoint };

const DISABLED: Readonly<Partial<Record<string, string>>> = words.disabledBecause;

export function EndpointRow({ teamId, endpoint }: EndpointRowProps) {
  const { url, status, endpointId } = endpoint;
  const [dialog, setDialog] = useKept<DialogName | undefined>(`dialog of ${endpointId}`, undefined);
  const change = useChange(teamId, endpointId);
  const isActive = status === 'active' || status === 'failing';
  return (
    <li className="row row-high">
      <div className="row-head">
        <Group gap="xs" className="row-text">
          <Text fw={600} component="h2" className="wrap">
            <Name>{url}</Name>
          </Text>
          <Badge variant="light" color={COLORS[status]} tt="none">
            {words.statuses[status]}
          </Badge>
        </Group>
        <RowMenu name={url} id={endpointId} isBusy={change.isPending}>
          <Menu.Item onClick={() => setDialog('edit')} aria-label={words.editOf(url)}>
            {words.edit}
          </Menu.Item>
          {isActive && (
            <Menu.Item onClick={() => change.submit('sendTest')} aria-label={words.testOf(url)}>
              {words.test}
            </Menu.Item>
          )}
          <Menu.Item
            onClick={() => change.submit(isActive ? 'pause' : 'resume')}
            aria-label={(isActive ? words.pauseOf : words.resumeOf)(url)}
          >
            {isActive ? words.pause : words.resume}
          </Menu.Item>
          <Menu.Item onClick={() => setDialog('rotate')} aria-label={words.rotateOf(url)}>
            {words.rotate}
          </Menu.Item>
          <Menu.Item className="data-danger" onClick={() => setDialog('delete')} aria-label={words.deleteOf(url)}>
            {words.delete}
          </Menu.Item>
        </RowMenu>
      </div>
      <Facts endpoint={endpoint} />
      {change.error !== null && <FailureAlert failure={toFailure(change.error)} onClose={change.reset} />}
      <DeliveriesLink teamId={teamId} endpointId={endpointId} url={url} />
      {dialog !== undefined && (
        <EndpointDialog name={dialog} teamId={teamId} endpoint={endpoint} onClose={() => setDialog(undefined)} />
      )}
    </li>
  );
}

function Facts({ endpoint }: { readonly endpoint: Endpoint }) {
  const { day, minute } = useDates();
  const { types, createdAt, failingSince, previousSecretExpiresAt, status, disabledReason } = endpoint;
  return (
    <>
      <Text size="sm" c="dimmed" className="wrap" title={types.join(SEPARATOR)}>
        {types.length === 0 ? words.allTypes : words.typeCount(types.length)}
        {SEPARATOR}
        {words.created(day(createdAt))}
      </Text>
      {status === 'failing' && failingSince !== null && (
        <Text size="sm">{words.failingSince(minute(failingSince))}</Text>
      )}
      {status === 'disabled' && <Text size="sm">{DISABLED[disabledReason ?? ''] ?? words.disabledBecause.other}</Text>}
      {previousSecretExpiresAt !== null && (
        <Text size="sm">{words.previousUntil(minute(previousSecretExpiresAt))}</Text>
      )}
    </>
  );
}

type DeliveriesLinkProps = { readonly teamId: TeamId; readonly endpointId: string; readonly url: string };

const DeliveriesLink = ({ teamId, endpointId, url }: DeliveriesLinkProps) => (
  <Text size="sm" mt={4}>
    {teamId === null ? (
      <TextLink to="/operator/webhooks/$endpointId" params={{ endpointId }} aria-label={words.deliveriesOf(url)}>
        {words.deliveries}
      </TextLink>
    ) : (
      <TextLink
        to="/teams/$teamId/webhooks/$endpointId"
        params={{ teamId, endpointId }}
        aria-label={words.deliveriesOf(url)}
      >
        {words.deliveries}
      </TextLink>
    )}
  </Text>
);
