import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Confirmation } from '../../components/confirmation.tsx';
import { useNotice } from '../../components/notices.tsx';
import { Rotation } from '../../components/rotation.tsx';
import { endpointsQuery } from '../../page-queries.ts';
import { webhooksTexts as words } from '../../messages/webhooks.ts';
import { trpc } from '../../trpc.ts';
import { EditEndpoint } from './edit-endpoint.tsx';
import type { Endpoint, NewSecret, TeamId } from './endpoints.ts';
import { SecretOnce } from './secret-once.tsx';

export type DialogName = 'edit' | 'rotate' | 'delete';

type DialogProps = { readonly teamId: TeamId; readonly endpoint: Endpoint; readonly onClose: () => void };

/** The dialog of a button of an endpoint. */
export const EndpointDialog = ({ name, ...props }: DialogProps & { readonly name: DialogName }) =>
  name === 'edit' ? <EditEndpoint {...props} /> : name === 'rotate' ? <Rotate {...props} /> : <Delete {...props} />;

function Rotate({ teamId, endpoint: { endpointId, url }, onClose }: DialogProps) {
  const [rotated, setRotated] = useState<NewSecret>();
  const queries = useQueryClient();
  if (rotated !== undefined) return <SecretOnce title={words.rotatedTitle} {...rotated} onClose={onClose} />;
  return (
    <Rotation
      explanation={words.rotateExplanation(url)}
      call={(overlapHours) => trpc.webhooks.rotateSecret.mutate({ teamId, endpointId, overlapHours })}
      onSuccess={(output) => {
        setRotated(output);
        void queries.invalidateQueries(endpointsQuery(teamId));
      }}
      onClose={onClose}
    />
  );
}

function Delete({ teamId, endpoint: { endpointId, url }, onClose }: DialogProps) {
  const queries = useQueryClient();
  const notify = useNotice();
  return (
    <Confirmation
      title={words.deleteTitle}
      explanation={words.deleteExplanation(url)}
      submit={words.delete}
      call={() => trpc.webhooks.delete.mutate({ teamId, endpointId })}
      onSuccess={() => {
        notify(words.deleted);
        void queries.invalidateQueries(endpointsQuery(teamId));
      }}
      onClose={onClose}
    />
  );
}
