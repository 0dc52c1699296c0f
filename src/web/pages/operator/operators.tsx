import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, type ReactNode } from 'react';
import { FailureAlert } from '../../components/failure-alert.tsx';
import { ButtonLink, TextLink } from '../../components/links.tsx';
import { LoadingPage, Page } from '../../components/page.tsx';
import { me } from '../../session.ts';
import { texts } from '../../messages/console.ts';
import { operatorTexts as words } from '../../messages/operator.ts';
import { failureOf } from '../../trpc.ts';
import './operator.css';

/**
 * How a read is made that the log tells of: once for each time that a person looks. So nothing comes
 * from a cache, which would show it without a line, and nothing is read behind a person's back.
 */
export const VIEW = {
  staleTime: 0,
  gcTime: 0,
  refetchOnWindowFocus: false,
  refetchOnReconnect: false,
} as const;

/** What only operators see. The service decides; others are not left with its words, which are those of an unknown path. */
export function Operators({ children }: { readonly children: ReactNode }) {
  const { data: person } = useQuery(me());
  if (person === undefined) return <LoadingPage />;
  if (person.role === 'admin') return children;
  return (
    <Page title={words.refusedTitle} explanation={words.refused}>
      <div>
        <ButtonLink to="/">{texts.toTeams}</ButtonLink>
      </div>
    </Page>
  );
}

type RefusalProps = { readonly error: Error; readonly retry: () => void };

/** Why a read failed. Whoever is told that there is no such path is no operator any more, as `Operators` then learns. */
export function Refusal({ error, retry }: RefusalProps) {
  const queries = useQueryClient();
  const failure = failureOf(error);
  const isUnknown = failure.code === 'route_not_found';
  useEffect(() => {
    if (isUnknown) void queries.invalidateQueries(me());
  }, [isUnknown, queries]);
  return <FailureAlert failure={failure} retry={isGone(error) ? undefined : retry} />;
}

/** Whether what a page is about is not there: nothing that was read before is true any more. */
export const isGone = (error: Error | null): boolean =>
  error !== null && (failureOf(error).code ?? '').endsWith('_not_found');

export const BackToSearch = () => (
  <div className="operator-back">
    <TextLink to="/operator">{words.backToSearch}</TextLink>
  </div>
);
