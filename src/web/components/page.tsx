import { Skeleton, Stack, Text, Title } from '@mantine/core';
import type { ReactNode } from 'react';
import { texts } from '../messages/console.ts';
import { useWindowTitle } from './page-title.ts';

type PageProps = {
  readonly title: string;
  readonly explanation?: ReactNode;
  readonly action?: ReactNode;
  /** Whether the page uses the width of the window, as tables do. Forms and texts have a readable one. */
  readonly isWide?: boolean;
  readonly children: ReactNode;
};

/** A page with its heading, which is focused after a route change (see router.ts). */
export function Page({ title, explanation, action, isWide = false, children }: PageProps) {
  const windowTitle = useWindowTitle(title);
  return (
    <>
      <title>{windowTitle}</title>
      <Stack gap="lg" className="page" mod={{ wide: isWide }}>
        <header className="page-header">
          <Title order={1} size="h2" tabIndex={-1}>
            {title}
          </Title>
          {action}
          {explanation !== undefined && (
            <Text c="dimmed" className="page-explanation">
              {explanation}
            </Text>
          )}
        </header>
        {children}
      </Stack>
    </>
  );
}

/** A placeholder of about the height of the content that is loading. */
export const Placeholder = ({ rows = 3, height = 44 }: { readonly rows?: number; readonly height?: number }) => (
  <Stack gap="md" role="status" aria-label={texts.loading}>
    {Array.from({ length: rows }, (_, row) => (
      <Skeleton key={row} height={height} />
    ))}
  </Stack>
);

export const LoadingPage = () => (
  <Stack gap="lg" className="page appear-late">
    <Skeleton height={32} width="60%" />
    <Placeholder />
  </Stack>
);
