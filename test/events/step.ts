import type { Api } from '../support/api.ts';
import type { Trpc } from '../trpc/console.ts';

/** Numbers that choose which account, team, role and value a step is about. */
export type Choice = { readonly step: number; readonly a: number; readonly b: number; readonly c: number };

/** What a step works with. */
export type At = {
  readonly api: Api;
  readonly operator: ReturnType<Api['as']>;
  readonly upload: ReturnType<Api['as']>;
  /** The session of the account that the step is made by, and its API key over REST. */
  readonly trpc: () => Promise<Trpc>;
  readonly rest: () => Promise<ReturnType<Api['as']>>;
  readonly ownerTrpc: () => Promise<Trpc>;
  readonly email: string;
  readonly account: string;
  readonly other: string;
  readonly otherEmail: string;
  /** A member of the team who does not own it, if there is one. */
  readonly member: string;
  readonly memberEmail: string;
  readonly team: string;
  readonly owner: string;
  readonly role: string;
  readonly c: number;
};

export type Steps = Readonly<Record<string, (at: At) => Promise<unknown>>>;
