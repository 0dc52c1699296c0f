import { Button } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { publicTexts } from '../messages/public.ts';
import { toFailure, trpc } from '../trpc.ts';
import { FailureAlert } from './failure-alert.tsx';
import { useNotice } from './notices.tsx';

export function ResendVerification({ email }: { readonly email: string }) {
  const notify = useNotice();
  const resend = useMutation({
    mutationFn: () => trpc.auth.resendVerification.mutate({ email }),
    onSuccess: () => notify(publicTexts.verification.resent(email)),
  });
  return (
    <>
      {resend.error !== null && <FailureAlert failure={toFailure(resend.error)} />}
      <Button variant="default" loading={resend.isPending} onClick={() => resend.mutate()}>
        {publicTexts.verification.resend}
      </Button>
    </>
  );
}
