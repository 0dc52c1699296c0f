import type { DataTag, QueryFunction, QueryKey, UseQueryOptions } from '@tanstack/react-query';
import { getUntypedClient, type TRPCClientError } from '@trpc/client';
import type { inferRouterInputs, inferRouterOutputs } from '@trpc/server';
import type { AppRouter } from '../generated/router.ts';
import type { RosterClient } from './context.ts';

type Tree = AppRouter['_def']['record'];

/** The names of the queries of a group. */
type Reads<Group> = {
  [Name in keyof Group & string]: Group[Name] extends { _def: { type: 'query' } } ? Name : never;
}[keyof Group & string];

/** The groups of the tree; groups do not nest. */
type GroupName = { [Name in keyof Tree]: Tree[Name] extends { _def: object } ? never : Name }[keyof Tree];

/**
 * The reads that take the token of a link. They are mutations, whose input is in the body: URLs are logged by proxies and
 * kept by browsers.
 */
const READS_BY_TOKEN = ['auth.checkLink', 'auth.readVerification', 'auth.readSignInLink', 'invitations.read'] as const;

/** The path of a read, such as `members.removalPreview` or `listTeams`. */
export type QueryPath =
  | (typeof READS_BY_TOKEN)[number]
  | Reads<Tree>
  | { [Name in GroupName]: `${Name}.${Reads<Tree[Name]>}` }[GroupName];

/** The type at a path. */
type At<Of, Path extends string> = Path extends `${infer Group extends keyof Of & string}.${infer Name}`
  ? Name extends keyof Of[Group]
    ? Of[Group][Name]
    : never
  : Path extends keyof Of
    ? Of[Path]
    : never;

type InputAt<Path extends string> = At<inferRouterInputs<AppRouter>, Path>;
type OutputAt<Path extends string> = At<inferRouterOutputs<AppRouter>, Path>;

/** The TanStack Query options of a query, whose key is `['roster', path, input]`. */
export type RosterQuery = <Path extends QueryPath>(
  path: Path,
  ...input: undefined extends InputAt<Path> ? [input?: InputAt<Path>] : [input: InputAt<Path>]
) => Options<OutputAt<Path>, TRPCClientError<AppRouter>>;

type Options<Output, Error> = Omit<UseQueryOptions<Output, Error>, 'queryKey' | 'queryFn'> & {
  queryKey: DataTag<QueryKey, Output, Error>;
  queryFn: QueryFunction<Output>;
};

const isByToken = (path: string): boolean => READS_BY_TOKEN.some((known) => known === path);

/** Creates the queries of a client. The hooks have the same keys, so both share what was read, and its changes. */
export function createQuery(client: RosterClient): RosterQuery {
  const untyped = getUntypedClient(client);
  const query = (path: string, input?: unknown) => ({
    queryKey: ['roster', path, input],
    queryFn: ({ signal }: { signal: AbortSignal }) =>
      isByToken(path)
        ? untyped.mutation(path, input, { signal, context: { isRead: true } })
        : untyped.query(path, input, { signal }),
  });
  return query as unknown as RosterQuery; // the path determines the types of an untyped client
}

/** Returns whether a query has a team as input. */
export const isAboutTeam = ([, , input]: QueryKey, teamId: string): boolean =>
  typeof input === 'object' && input !== null && 'teamId' in input && input.teamId === teamId;
