import { useSearch } from '@tanstack/react-router';
import { RequestLink } from '../components/request-link.tsx';
import { publicTexts } from '../messages/public.ts';
import { trpc } from '../trpc.ts';

export function ForgotPassword() {
  const { next } = useSearch({ from: '/public/forgot-password' });
  return (
    <RequestLink words={publicTexts.forgot} next={next} call={(values) => trpc.auth.forgotPassword.mutate(values)} />
  );
}
