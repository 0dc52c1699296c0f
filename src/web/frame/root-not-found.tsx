import { useQuery } from '@tanstack/react-query';
import { lazy, Suspense } from 'react';
import { CardLayout } from '../components/layouts.tsx';
import { NotFound } from '../components/route-failure.tsx';
import { me } from '../session.ts';

const ConsoleLayout = lazy(async () => ({ default: (await import('./console-layout.tsx')).ConsoleLayout }));

/** In place of all pages: with the navigation for users who are signed in. */
export function RootNotFound() {
  const { data: person, isPending } = useQuery({ ...me(), retry: false });
  if (isPending) return null;
  if (person === undefined)
    return (
      <CardLayout>
        <NotFound />
      </CardLayout>
    );
  return (
    <Suspense fallback={null}>
      <ConsoleLayout>
        <NotFound />
      </ConsoleLayout>
    </Suspense>
  );
}
