import { Group } from '@mantine/core';
import { useRouter, type ErrorComponentProps } from '@tanstack/react-router';
import { useEffect } from 'react';
import { ButtonLink } from './links.tsx';
import { isLoadError } from '../load-error.ts';
import { texts } from '../messages/console.ts';
import { toFailure } from '../trpc.ts';
import { FailureAlert } from './failure-alert.tsx';
import { CardLayout } from './layouts.tsx';
import { Page } from './page.tsx';

/** An error inside of a layout, in place of the page. */
export function PageFailure({ error }: ErrorComponentProps) {
  const router = useRouter();
  // Nothing was typed into a page that could not be shown, so it is loaded again without being asked.
  useEffect(() => {
    const retry = () => void router.invalidate();
    window.addEventListener('online', retry);
    return () => window.removeEventListener('online', retry);
  }, [router]);
  const isOutdated = isLoadError(error) && navigator.onLine;
  return (
    <Page title={texts.failed.title}>
      <FailureAlert
        failure={toFailure(error)}
        retry={() => (isOutdated ? window.location.reload() : void router.invalidate())}
        retryLabel={isOutdated ? texts.reload : texts.retry}
      />
    </Page>
  );
}

/** An error of a layout itself. */
export const LayoutFailure = (props: ErrorComponentProps) => (
  <CardLayout>
    <PageFailure {...props} />
  </CardLayout>
);

/** In place of a page, inside of a layout. */
export const NotFound = () => (
  <Page title={texts.notFound.title} explanation={texts.notFound.detail}>
    <Group>
      <ButtonLink to="/">{texts.toTeams}</ButtonLink>
    </Group>
  </Page>
);
