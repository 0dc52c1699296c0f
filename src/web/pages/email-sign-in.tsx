import { RequestLink } from '../components/request-link.tsx';
import { texts } from '../messages/console.ts';
import { trpc } from '../trpc.ts';

export const EmailSignIn = () => (
  <RequestLink words={texts.emailSignIn} call={(values) => trpc.auth.emailSignInLink.mutate(values)} />
);
