import { useSessionStart } from '../session.ts';
import { trpc } from '../trpc.ts';
import { useSubmission } from './submission.ts';

/** Returns how to end the session, and to open a page afterwards. */
export function useSignOut(next = '/sign-in') {
  const start = useSessionStart();
  return useSubmission({
    isRepeatable: true,
    mutationFn: () => trpc.auth.signOut.mutate(),
    onSuccess: () => start(next),
  });
}
