import { useQueryClient } from '@tanstack/react-query';
import { useNotice } from '../../components/notices.tsx';
import { endpointsQuery } from '../../page-queries.ts';
import { webhooksTexts as words } from '../../messages/webhooks.ts';
import { trpc } from '../../trpc.ts';
import type { TeamId } from './endpoints.ts';
import { useSubmission } from '../../components/submission.ts';

const NOTICES = { pause: words.paused, resume: words.resumed, sendTest: words.tested } as const;

/** Changes of an endpoint that need no dialog. */
export function useChange(teamId: TeamId, endpointId: string) {
  const queries = useQueryClient();
  const notify = useNotice();
  return useSubmission({
    isRepeatable: true,
    mutationFn: async (name: keyof typeof NOTICES) => {
      await trpc.webhooks[name].mutate({ teamId, endpointId });
    },
    onSuccess: async (_nothing, name) => {
      await queries.invalidateQueries(endpointsQuery(teamId));
      notify(NOTICES[name]);
    },
  });
}
