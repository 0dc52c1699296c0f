// The types of all procedures, for tRPC clients of your own. Needs only `@trpc/server`, and nothing at run time.
export type * from './generated/router.ts';
