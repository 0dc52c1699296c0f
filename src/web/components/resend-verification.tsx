import { Button } from '@mantine/core';
import { publicTexts } from '../messages/public.ts';
import { toFailure, trpc } from '../trpc.ts';
import { FailureAlert } from './failure-alert.tsx';
import { useNotice } from './notices.tsx';
import { useSubmission } from './submission.ts';

export function ResendVerification({ email }: { readonly email: string }) {
  const notify = useNotice();
  const resend = useSubmission({
    isRepeatable: true,
    mutationFn: () => trpc.auth.resendVerification.mutate({ email }),
    onSuccess: () => notify(publicTexts.verification.resent(email)),
  });
  return (
    <>
      {resend.error !== null && <FailureAlert failure={toFailure(resend.error)} />}
      <Button variant="default" loading={resend.isPending} onClick={() => resend.submit()}>
        {publicTexts.verification.resend}
      </Button>
    </>
  );
}
