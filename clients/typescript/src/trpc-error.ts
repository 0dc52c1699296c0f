import { TRPCClientError } from '@trpc/client';
import type { AppRouter } from './generated/router.ts';

/** Returns whether an error is one of a call, with the problem document in `data.problem` if the service was reached. */
export const isRosterTrpcError = (error: unknown): error is TRPCClientError<AppRouter> =>
  error instanceof TRPCClientError;
