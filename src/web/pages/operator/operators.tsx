import { useQueryClient } from '@tanstack/react-query';
import { useEffect, type ReactNode } from 'react';
import { FailureAlert } from '../../components/failure-alert.tsx';
import { TextLink } from '../../components/links.tsx';
import { me } from '../../session.ts';
import { operatorTexts as words } from '../../messages/operator.ts';
import { toFailure } from '../../trpc.ts';
import { OperatorNav } from './nav.tsx';
import './operator.css';

/** Options of audited queries: one request for each view. The cache and background refetches are off. */
export const VIEW = {
  staleTime: 0,
  gcTime: 0,
  refetchOnWindowFocus: false,
  refetchOnReconnect: false,
} as const;

/** A page for operators, with the links to the others. */
export const Operators = ({ children }: { readonly children: ReactNode }) => (
  <>
    <OperatorNav />
    {children}
  </>
);

type RefusalProps = { readonly error: Error; readonly retry: () => void };

/** Why a query failed. A 404 for the path means that the user is no longer an operator; the layout then shows so. */
export function Refusal({ error, retry }: RefusalProps) {
  const queries = useQueryClient();
  const failure = toFailure(error);
  const isUnknown = failure.code === 'route_not_found';
  useEffect(() => {
    if (isUnknown) void queries.invalidateQueries(me());
  }, [isUnknown, queries]);
  return <FailureAlert failure={failure} retry={isGone(error) ? undefined : retry} />;
}

/** Whether the resource of a page does not exist, so that earlier data is out of date. */
export const isGone = (error: Error | null): boolean =>
  error !== null && (toFailure(error).code ?? '').endsWith('_not_found');

export const BackToSearch = () => (
  <div className="operator-back">
    <TextLink to="/operator">{words.backToSearch}</TextLink>
  </div>
);
