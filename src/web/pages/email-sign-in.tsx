import { useSearch } from '@tanstack/react-router';
import { RequestLink } from '../components/request-link.tsx';
import { publicTexts } from '../messages/public.ts';
import { trpc } from '../trpc.ts';

export function EmailSignIn() {
  const { next } = useSearch({ from: '/public/email-sign-in' });
  return (
    <RequestLink
      words={publicTexts.emailSignIn}
      next={next}
      call={(values) => trpc.auth.emailSignInLink.mutate(values)}
    />
  );
}
