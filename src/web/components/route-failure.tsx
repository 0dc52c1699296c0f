import { useRouter, type ErrorComponentProps } from '@tanstack/react-router';
import { ButtonLink } from './links.tsx';
import { texts } from '../messages/console.ts';
import { toFailure } from '../trpc.ts';
import { FailureAlert } from './failure-alert.tsx';
import { CardLayout } from './layouts.tsx';
import { Page } from './page.tsx';

export function RouteFailure({ error }: ErrorComponentProps) {
  const router = useRouter();
  return (
    <CardLayout>
      <Page title={texts.failed.title}>
        <FailureAlert failure={toFailure(error)} retry={() => void router.invalidate()} />
      </Page>
    </CardLayout>
  );
}

export const NotFound = () => (
  <CardLayout>
    <Page title={texts.notFound.title} explanation={texts.notFound.detail}>
      <ButtonLink to="/">{texts.toTeams}</ButtonLink>
    </Page>
  </CardLayout>
);
