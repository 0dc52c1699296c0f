import type { Api } from '../support/api.ts';
import { signedIn, type Visitor } from '../support/browser.ts';
import type { AnAccount } from '../support/factories.ts';
import { browse } from './flow.ts';

type Visit = {
  readonly visitor?: Visitor;
  readonly account?: AnAccount;
  readonly team?: { readonly id: string };
  /** What to approve: all that is offered (default), or what the page has selected at first. */
  readonly selection?: 'all' | 'preselected';
};

/**
 * Opens the URL that a client made, in a browser that is signed in, and approves what is asked for.
 * @returns where the browser is sent with the answer
 */
export const approveAt = async (api: Api, url: URL, visit: Visit = {}): Promise<URL> =>
  decideAt(api, url, visit, ({ trpc }, { id, account, scopes, preselectedScopes }) =>
    trpc.authorizations.approve.mutate({
      id,
      accountId: account.id,
      teamId: visit.team?.id ?? null,
      scopes: visit.selection === 'preselected' ? preselectedScopes : scopes,
    }),
  );

/** The same, denied. */
export const denyAt = async (api: Api, url: URL): Promise<URL> =>
  decideAt(api, url, {}, ({ trpc }, { id }) => trpc.authorizations.deny.mutate({ id }));

type Asked = Awaited<ReturnType<Visitor['trpc']['authorizations']['read']['query']>>;
type Decide = (visitor: Visitor, asked: Asked) => Promise<{ redirectTo: string }>;

async function decideAt(api: Api, url: URL, visit: Visit, decide: Decide): Promise<URL> {
  const visitor = visit.visitor ?? (await signedIn(api, visit.account ?? (await api.anAccount())));
  const open = browse(api, visitor);
  const page = await open(url.pathname + url.search);
  const id = /^\/oauth\/consent\/([\w-]+)$/.exec(page.headers.location ?? '')?.[1];
  // A response without a consent page: an error.
  if (id === undefined) return locationOf(page);
  const { redirectTo } = await decide(visitor, await visitor.trpc.authorizations.read.query({ id }));
  return locationOf(await open(new URL(redirectTo).pathname));
}

function locationOf({ status, headers, text }: Awaited<ReturnType<ReturnType<typeof browse>>>): URL {
  if (headers.location === undefined) throw new Error(`No redirect: ${status} ${text}`);
  return new URL(headers.location);
}
