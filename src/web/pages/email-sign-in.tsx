import { RequestLink } from '../components/request-link.tsx';
import { publicTexts } from '../messages/public.ts';
import { trpc } from '../trpc.ts';

export const EmailSignIn = () => (
  <RequestLink words={publicTexts.emailSignIn} call={(values) => trpc.auth.emailSignInLink.mutate(values)} />
);
