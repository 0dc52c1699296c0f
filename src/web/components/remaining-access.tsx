import { Button, Stack, Text } from '@mantine/core';
import { useDates } from './dates.ts';
import { FailureAlert } from './failure-alert.tsx';
import { remainingAccessTexts as words } from '../messages/proof.ts';
import { toFailure, trpc, type Outputs } from '../trpc.ts';
import { useSubmission } from './submission.ts';
import { SEPARATOR } from '../messages/language.ts';
import { Name } from './name.tsx';

type RemainingAccessProps = Pick<Outputs['auth']['resetPassword'], 'access' | 'revocationToken'> & {
  readonly onRevoked?: () => void;
};

/** Lists what still gives access after the password was set anew, newest first, and revokes all of it. */
export function RemainingAccess({ access, revocationToken, onRevoked }: RemainingAccessProps) {
  const { day } = useDates();
  const revocation = useSubmission({
    isRepeatable: true,
    mutationFn: () => trpc.auth.revokeRemainingAccess.mutate({ token: revocationToken }),
    ...(onRevoked === undefined ? {} : { onSuccess: onRevoked }),
  });
  if (access.length === 0) return null;
  if (revocation.isSuccess) return <Text role="status">{words.revoked}</Text>;
  return (
    <Stack gap="sm">
      <Text fw={600}>{words.title}</Text>
      <Text size="sm">{words.explanation}</Text>
      <ul className="rows" aria-label={words.title}>
        {access.map(({ kind, id, name, createdAt, lastUsedAt }) => (
          <li key={id} className="row">
            <div className="row-text">
              <Text fw={600} className="wrap">
                <Name>{name}</Name>
              </Text>
              <Text size="sm" c="dimmed">
                {words.kinds[kind]}
                {SEPARATOR}
                {words.created(day(createdAt))}
                {SEPARATOR}
                {lastUsedAt === null ? words.unused : words.used(day(lastUsedAt))}
              </Text>
            </div>
          </li>
        ))}
      </ul>
      {revocation.error !== null && <FailureAlert failure={toFailure(revocation.error)} />}
      <Button variant="outline" color="red" loading={revocation.isPending} onClick={() => revocation.submit()}>
        {words.submit}
      </Button>
    </Stack>
  );
}
