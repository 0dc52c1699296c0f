import { useQueries } from '@tanstack/react-query';
import { useEffect, useEffectEvent } from 'react';
import { FailureAlert } from '../../../components/failure-alert.tsx';
import { Placeholder } from '../../../components/page.tsx';
import type { BulkDetails } from '../../../components/table/bulk/bulk-action.ts';
import { query, toFailure } from '../../../trpc.ts';
import { useTeam } from '../team.ts';
import { Consequences } from './consequences.tsx';
import type { Member } from './member.ts';

/** What is chosen if the invitations that stay are to be revoked too. */
export const WITH_INVITATIONS = 'with invitations';

/** The service takes so many in one read. */
const MEMBERS_MAX = 30;

/** Lists what stops working with the removal of several members. */
export function BulkRemoval({ rows, chosen, onChoose, onReady }: BulkDetails<Member>) {
  const { team } = useTeam();
  const parts = Array.from({ length: Math.ceil(rows.length / MEMBERS_MAX) }, (_, i) =>
    rows.slice(i * MEMBERS_MAX, (i + 1) * MEMBERS_MAX).map(({ accountId }) => accountId),
  );
  const previews = useQueries({
    // Always reloaded, because a cached preview could be out of date.
    queries: parts.map((accountIds) => ({
      ...query('members.removalPreviews', { teamId: team.id, accountIds }),
      gcTime: 0,
    })),
  });
  const read = previews.flatMap(({ data }) => data ?? []);
  const isRead = read.length === previews.length;
  const tell = useEffectEvent(onReady);
  useEffect(() => {
    if (isRead) tell();
  }, [isRead]);
  const failed = previews.find(({ error }) => error !== null);
  if (failed?.error)
    return (
      <FailureAlert failure={toFailure(failed.error)} retry={() => previews.forEach((each) => void each.refetch())} />
    );
  if (!isRead) return <Placeholder rows={1} height={22} />;
  return (
    <Consequences
      preview={{
        apiKeys: read.flatMap(({ apiKeys }) => apiKeys),
        oauthGrants: read.reduce((sum, { oauthGrants }) => sum + oauthGrants, 0),
        ownershipOffer: read.some(({ ownershipOffer }) => ownershipOffer),
        invitations: read.flatMap(({ invitations }) => invitations),
      }}
      isRevoked={chosen === WITH_INVITATIONS}
      onChange={(isRevoked) => onChoose(isRevoked ? WITH_INVITATIONS : '')}
    />
  );
}
