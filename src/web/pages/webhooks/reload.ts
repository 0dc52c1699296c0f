import type { QueryClient } from '@tanstack/react-query';

/** Reloads the deliveries that are shown, on whatever page. */
export const reloadDeliveries = (queries: QueryClient): Promise<void> =>
  queries.invalidateQueries({ predicate: ({ queryKey: [, path] }) => path === 'webhooks.deliveries' });
