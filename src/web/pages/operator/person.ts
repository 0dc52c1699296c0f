import { operatorTexts as words } from '../../messages/operator.ts';

type Person = { readonly firstName: string | null; readonly lastName: string | null; readonly email: string | null };

/** What somebody is called: by their name, else by their address. */
export const nameOf = ({ firstName, lastName, email }: Person): string =>
  [firstName, lastName].filter(Boolean).join(' ') || (email ?? words.nameless);
