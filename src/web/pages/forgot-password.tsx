import { RequestLink } from '../components/request-link.tsx';
import { texts } from '../messages/console.ts';
import { trpc } from '../trpc.ts';

export const ForgotPassword = () => (
  <RequestLink words={texts.forgot} call={(values) => trpc.auth.forgotPassword.mutate(values)} />
);
