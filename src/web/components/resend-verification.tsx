import { Button } from '@mantine/core';
import { publicTexts } from '../messages/public.ts';
import { findAuthorizationId } from '../session.ts';
import { toFailure, trpc } from '../trpc.ts';
import { FailureAlert } from './failure-alert.tsx';
import { useNotice } from './notices.tsx';
import { useSubmission } from './submission.ts';

type ResendVerificationProps = {
  readonly email: string;
  /** The page to which the user wants; the link continues the request of an application there. */
  readonly next?: string | undefined;
};

export function ResendVerification({ email, next }: ResendVerificationProps) {
  const notify = useNotice();
  const resend = useSubmission({
    isRepeatable: true,
    mutationFn: () => trpc.auth.resendVerification.mutate({ email, authorizationId: findAuthorizationId(next) }),
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
