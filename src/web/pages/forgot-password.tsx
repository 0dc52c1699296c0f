import { RequestLink } from '../components/request-link.tsx';
import { publicTexts } from '../messages/public.ts';
import { trpc } from '../trpc.ts';

export const ForgotPassword = () => (
  <RequestLink words={publicTexts.forgot} call={(values) => trpc.auth.forgotPassword.mutate(values)} />
);
