import { useRouter, type ErrorComponentProps } from '@tanstack/react-router';
import { ButtonLink } from './links.tsx';
import { texts } from '../messages/console.ts';
import { failureOf } from '../trpc.ts';
import { FailureAlert } from './failure-alert.tsx';
import { VisitorLayout } from './layouts.tsx';
import { Page } from './page.tsx';

export function RouteFailure({ error }: ErrorComponentProps) {
  const router = useRouter();
  return (
    <VisitorLayout>
      <Page title={texts.failed.title}>
        <FailureAlert failure={failureOf(error)} retry={() => void router.invalidate()} />
      </Page>
    </VisitorLayout>
  );
}

export const NotFound = () => (
  <VisitorLayout>
    <Page title={texts.notFound.title} explanation={texts.notFound.detail}>
      <ButtonLink to="/">{texts.toTeams}</ButtonLink>
    </Page>
  </VisitorLayout>
);
