import { Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Dialog } from '../../components/dialog.tsx';
import { FailureAlert } from '../../components/failure-alert.tsx';
import { Placeholder } from '../../components/page.tsx';
import { UsagePlot } from '../../components/usage-plot.tsx';
import { apiKeysTexts as words } from '../../messages/api-keys.ts';
import { query, toFailure } from '../../trpc.ts';
import type { Key } from './keys.ts';

type KeyUsageProps = { readonly apiKey: Key; readonly onClose: () => void };

/** The requests of a key by day, and the address of the last one. */
export function KeyUsage({ apiKey: { id, name, teamId }, onClose }: KeyUsageProps) {
  const usage = useQuery({ ...query('apiKeys.usage', { keyId: id, teamId: teamId ?? undefined }), staleTime: 0 });
  return (
    <Dialog onClose={onClose} title={words.usageTitle(name)}>
      <Stack gap="md">
        <Text size="sm">{words.usageHint}</Text>
        {usage.error !== null && <FailureAlert failure={toFailure(usage.error)} retry={() => void usage.refetch()} />}
        {usage.isPending && <Placeholder rows={1} height={120} />}
        {usage.data !== undefined && (
          <>
            <UsagePlot days={usage.data.days} />
            {usage.data.lastAddress !== null && (
              <Text size="sm" className="wrap">
                {words.lastAddress(usage.data.lastAddress)}
              </Text>
            )}
          </>
        )}
      </Stack>
    </Dialog>
  );
}
