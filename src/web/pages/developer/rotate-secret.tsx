import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Rotation } from '../../components/rotation.tsx';
import { developerTexts as words } from '../../messages/oauth.ts';
import { query, trpc, type Outputs } from '../../trpc.ts';
import { Credentials } from './credentials.tsx';

type RotateSecretProps = { readonly client: Outputs['oauthClients']['list'][number]; readonly onClose: () => void };

/** Rotates the secret of a client and shows the new one once. */
export function RotateSecret({ client, onClose }: RotateSecretProps) {
  const [rotated, setRotated] = useState<Outputs['oauthClients']['rotateSecret']>();
  const queries = useQueryClient();
  if (rotated !== undefined) return <Credentials title={words.secretTitle} {...rotated} onClose={onClose} />;
  return (
    <Rotation
      explanation={words.rotateExplanation}
      call={(overlapHours) => trpc.oauthClients.rotateSecret.mutate({ clientId: client.id, overlapHours })}
      onSuccess={(output) => {
        setRotated(output);
        void queries.invalidateQueries(query('oauthClients.list'));
      }}
      onClose={onClose}
    />
  );
}
