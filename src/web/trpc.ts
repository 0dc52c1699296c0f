import { createQuery } from '#client/react';
import { isRosterTrpcError, proofLink, repeatLink } from '#client/trpc';
import { QueryClient, type QueryClientConfig } from '@tanstack/react-query';
import {
  createTRPCClient,
  httpBatchLink,
  httpLink,
  splitLink,
  TRPCClientError,
  type Operation,
  type TRPCLink,
} from '@trpc/client';
import type { AppRouter } from '#client/router';
import { isLoadError } from './load-error.ts';
import { texts } from './messages/console.ts';
import { language } from './messages/language.ts';
import { problemAdvice, problemTitles } from './messages/problems.ts';
import { proofTexts } from './messages/proof.ts';
import { askForProof } from './proof.ts';
import { askToSignIn, hasInput, isAskedToSignIn } from './sign-in-again.ts';
import { findUnanswered, watchCalls } from './unanswered.ts';

let findAccountId = (): string | undefined => undefined;

/** Sets how calls find the account that the page shows. */
export function setAccount(find: () => string | undefined): void {
  findAccountId = find;
}

/** Names the account that the page shows: the service rejects calls from a tab whose session became another account’s. */
export const accountHeader = (path: string): Record<string, string> => toHeader(path, findAccountId());

const toHeader = (path: string, id: string | undefined): Record<string, string> =>
  id === undefined || NOT_NAMING.test(path) ? {} : { 'x-roster-account': id };

/** The consent page handles a change of the account itself. A sign-in says itself whose session it starts. */
const NOT_NAMING = /^(authorizations\.|auth\.signIn$|passkeys\.signIn(Options)?$)/;

/** Notes the account that the page shows when a call is made: if it is repeated, it is not sent as another one. */
const noteAccount: TRPCLink<AppRouter> =
  () =>
  ({ op, next }) =>
    next({ ...op, context: { ...op.context, accountId: findAccountId() } });

const findNotedAccount = ({ context: { accountId } }: Pick<Operation, 'context'>): string | undefined =>
  typeof accountId === 'string' ? accountId : undefined;

/** The service accepts 20 calls in one request. */
const MAX_BATCH = 20;

/** Longer URLs than this are rejected by some proxies. */
const MAX_URL_LENGTH = 2000;

export const trpc = createTRPCClient<AppRouter>({
  links: [
    noteAccount,
    repeatLink(
      (error, op) => keepsPage(error, op.type, findNotedAccount(op)) && op.context['isCheck'] !== true,
      askToSignIn,
    ),
    proofLink(askForProof),
    watchCalls,
    splitLink({
      // Reads of one page travel together. A change travels alone, so that its answer waits for no other.
      condition: ({ type, path }) => type === 'query' && !path.startsWith('authorizations.'),
      true: httpBatchLink<AppRouter>({
        url: '/trpc',
        maxItems: MAX_BATCH,
        maxURLLength: MAX_URL_LENGTH,
        headers: ({ opList: [first] }) => toHeader(first.path, findNotedAccount(first)),
      }),
      false: httpLink<AppRouter>({ url: '/trpc', headers: ({ op }) => toHeader(op.path, findNotedAccount(op)) }),
    }),
  ],
});

/**
 * Whether the page stays when its session has ended, and asks the user to sign in again: if something was submitted or
 * entered, which another page would lose. Not if the page has become another account's since the request was made.
 */
const keepsPage = (error: unknown, type: string, id: string | undefined): boolean =>
  isSignedOut(error) &&
  id !== undefined &&
  id === findAccountId() &&
  (type === 'mutation' || isAskedToSignIn() || hasInput());

/** Sends a request that is no call of a procedure, and again after the user has signed in again. */
export function withSession<Output>(send: () => Promise<Output>): Promise<Output> {
  const id = findAccountId();
  return send().catch(async (error: unknown) => {
    if (!keepsPage(error, 'mutation', id) || !(await askToSignIn()) || findAccountId() !== id) throw error;
    return send();
  });
}

/**
 * Whether the browser is signed in as the user that the page shows.
 * @returns null if it is not signed in
 */
export async function isSameUser(): Promise<boolean | null> {
  try {
    await trpc.getMe.query(undefined, { context: { isCheck: true } });
    return true;
  } catch (error) {
    if (isAccountChanged(error)) return false;
    if (isSignedOut(error)) return null;
    throw error;
  }
}

/**
 * Returns the error of a request that is no call of a procedure, as procedures throw theirs. Without a problem document,
 * which proxies do not send, the service counts as unreachable.
 */
export const toClientError = (problem: object | null): Error =>
  problem === null
    ? new TRPCClientError<AppRouter>('No response.')
    : TRPCClientError.from<AppRouter>({
        error: { code: -32_600, message: 'Refused.', data: { problem } },
      } as unknown as Error); // the shape in which procedures answer

export const query = createQuery(trpc);

export type { Inputs, Outputs, Permission, Scope } from './api-types.ts';

type Document = NonNullable<TRPCClientError<AppRouter>['data']>['problem'];

type Fault = NonNullable<Document['errors']>[number];

/** Why a call failed, as texts to show: from the problem document, or general ones if none arrived. */
export type Failure = Pick<Document, 'title' | 'detail'> & {
  readonly code: Document['code'] | null;
  readonly requestId: string | null;
  readonly errors: readonly Fault[];
};

export function toFailure(error: unknown): Failure {
  const none = { code: null, requestId: null, errors: [] };
  const problem = isRosterTrpcError(error) ? error.data?.problem : undefined;
  const unanswered = problem === undefined ? findUnanswered(error) : undefined;
  if (unanswered === 'not_sent' || (unanswered === undefined && problem === undefined && !navigator.onLine))
    return { ...texts.offlineCall, ...none };
  if (isLoadError(error)) return { ...texts.outdated, ...none };
  if (!isRosterTrpcError(error)) return { ...texts.unexpected, ...none };
  if (unanswered === 'change') return { ...texts.unreachable, ...none, detail: texts.unknownOutcome };
  if (problem === undefined) return { ...texts.unreachable, ...none };
  // The problem document names the procedures of the API instead of the dialog.
  const own = problem.code === 'proof_required' && { title: proofTexts.title, detail: proofTexts.explanation };
  const wait = problem.retryAfter !== undefined && { detail: waitText(Math.ceil(problem.retryAfter)) };
  const { errors = [] } = problem;
  // The ID helps to find a fault in the log. What users can correct themselves needs none.
  const requestId = problem.status >= 500 ? (problem.requestId ?? null) : null;
  return { ...problem, errors, requestId, ...localText(problem), ...wait, ...own };
}

type ByCode = Readonly<Partial<Record<string, string>>>;
const TITLES: ByCode = problemTitles;
const ADVICE: ByCode = problemAdvice;

/** Puts an error into words by its code. Details of the service are in English, and shown only to its readers. */
function localText({ code, title, detail }: Document): Partial<Pick<Failure, 'title' | 'detail'>> {
  const localTitle = TITLES[code] ?? texts.unexpected.title;
  // It names the address to open, in English alone.
  if (code === 'cross_site_request') return { title: localTitle };
  if (language !== 'en') return { title: localTitle, detail: ADVICE[code] ?? `${localTitle}.` };
  const advice = ADVICE[code];
  return advice !== undefined && detail === `${title}.` ? { detail: advice } : {};
}

const waitText = (seconds: number): string =>
  seconds < 90 ? texts.waitSeconds(seconds) : texts.waitMinutes(Math.ceil(seconds / 60));

const SIGNED_OUT: ReadonlySet<Failure['code']> = new Set<Failure['code']>([
  'credential_missing',
  'credential_invalid',
  'session_required',
]);

/** Whether a call failed because the browser is signed in as another account than the page shows. */
export const isAccountChanged = (error: unknown): boolean => toFailure(error).code === 'account_changed';

/** Whether a call failed because there is no valid session. */
export const isSignedOut = (error: unknown): boolean => SIGNED_OUT.has(toFailure(error).code);

const TRANSIENT: ReadonlySet<Failure['code']> = new Set<Failure['code']>([null, 'service_unavailable']);

/** What was read this short a time ago is shown again without asking: the parts of one page share their reads. */
const FRESH_MS = 5000;

/**
 * Retries queries if the service could not be reached, but never mutations. Offline, calls fail like others instead of
 * waiting: a change that waits in a tab looks done and is lost with it.
 */
export const createQueryClient = (caches: Pick<QueryClientConfig, 'queryCache' | 'mutationCache'>) =>
  new QueryClient({
    ...caches,
    defaultOptions: {
      mutations: { networkMode: 'always' },
      queries: {
        networkMode: 'always',
        staleTime: FRESH_MS,
        refetchOnReconnect: true,
        refetchOnWindowFocus: () => navigator.onLine,
        retry: (count, error) => count < 2 && navigator.onLine && TRANSIENT.has(toFailure(error).code),
      },
    },
  });
