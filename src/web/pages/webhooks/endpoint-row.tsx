import { Badge, Group, Text } from '@mantine/core';
import { useState } from 'react';
import { useDates } from '../../components/dates.ts';
import { FailureAlert } from '../../components/failure-alert.tsx';
import { TextLink } from '../../components/links.tsx';
import { RowButton } from '../../components/row-button.tsx';
import { webhooksTexts as words } from '../../messages/webhooks.ts';
import { toFailure } from '../../trpc.ts';
import { useChange } from './change.ts';
import { EndpointDialog, type DialogName } from './endpoint-dialog.tsx';
import type { Endpoint, TeamId } from './endpoints.ts';
import { SEPARATOR } from '../../messages/language.ts';

const COLORS = { active: 'teal', failing: 'red', paused: 'gray', disabled: 'red' } as const;

type EndpointRowProps = { readonly teamId: TeamId; readonly endpoint: Endpoint };

const DISABLED: Readonly<Partial<Record<string, string>>> = words.disabledBecause;

export function EndpointRow({ teamId, endpoint }: EndpointRowProps) {
  const { url, status, endpointId } = endpoint;
  const [dialog, setDialog] = useState<DialogName>();
  const change = useChange(teamId, endpointId);
  const isActive = status === 'active' || status === 'failing';
  return (
    <li className="row row-high">
      <Group gap="xs">
        <Text fw={600} component="h2" className="wrap">
          <bdi>{url}</bdi>
        </Text>
        <Badge variant="light" color={COLORS[status]} tt="none">
          {words.statuses[status]}
        </Badge>
      </Group>
      <Facts endpoint={endpoint} />
      {change.error !== null && <FailureAlert failure={toFailure(change.error)} onClose={change.reset} />}
      <Group gap={4} className="row-actions">
        <DeliveriesLink teamId={teamId} endpointId={endpointId} url={url} />
        <RowButton onClick={() => setDialog('edit')} aria-label={words.editOf(url)}>
          {words.edit}
        </RowButton>
        {isActive && (
          <RowButton
            loading={change.isPending && change.variables === 'sendTest'}
            onClick={() => change.submit('sendTest')}
            aria-label={words.testOf(url)}
          >
            {words.test}
          </RowButton>
        )}
        {status !== 'paused' && status !== 'disabled' && (
          <RowButton onClick={() => change.submit('pause')} aria-label={words.pauseOf(url)}>
            {words.pause}
          </RowButton>
        )}
        {!isActive && (
          <RowButton onClick={() => change.submit('resume')} aria-label={words.resumeOf(url)}>
            {words.resume}
          </RowButton>
        )}
        <RowButton onClick={() => setDialog('rotate')} aria-label={words.rotateOf(url)}>
          {words.rotate}
        </RowButton>
        <RowButton color="red" onClick={() => setDialog('delete')} aria-label={words.deleteOf(url)}>
          {words.delete}
        </RowButton>
      </Group>
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
  <Text size="sm" px="xs" fw={600}>
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
