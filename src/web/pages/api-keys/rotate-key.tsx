import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Rotation } from '../../components/rotation.tsx';
import { keysQuery } from '../../page-queries.ts';
import { apiKeysTexts as words } from '../../messages/api-keys.ts';
import { trpc } from '../../trpc.ts';
import type { Key, NewSecret } from './keys.ts';
import { SecretOnce } from './secret-once.tsx';

type RotateKeyProps = { readonly apiKey: Key; readonly onClose: () => void };

/** Rotates the secret of a key and shows the new one once. */
export function RotateKey({ apiKey: { id, name, teamId }, onClose }: RotateKeyProps) {
  const [rotated, setRotated] = useState<NewSecret>();
  const queries = useQueryClient();
  if (rotated !== undefined)
    return <SecretOnce title={words.rotatedTitle(name)} secret={rotated.secret} onClose={onClose} />;
  return (
    <Rotation
      explanation={words.rotateExplanation(name)}
      call={(overlapHours) => trpc.apiKeys.rotate.mutate({ keyId: id, overlapHours })}
      onSuccess={(output) => {
        setRotated(output);
        void queries.invalidateQueries(keysQuery(teamId ?? undefined));
      }}
      onClose={onClose}
    />
  );
}
