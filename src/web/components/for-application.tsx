import { useQuery } from '@tanstack/react-query';
import { query } from '../trpc.ts';

type ForApplicationProps = {
  /** Of the application’s request. */
  readonly authorizationId: string;
  readonly words: (client: string) => string;
};

/** Says to which application a sign-in leads. Without a name, or until it is known, the line only keeps its height. */
export function ForApplication({ authorizationId, words }: ForApplicationProps) {
  const { data } = useQuery(query('auth.readApplication', { authorizationId }));
  return data ? words(data.name) : '\u00a0';
}
