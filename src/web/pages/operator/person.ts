import { operatorTexts as words } from '../../messages/operator.ts';

type Person = { readonly firstName: string | null; readonly lastName: string | null; readonly email: string | null };

/** Returns the name of an account, or its email if it has none. */
export const nameOf = ({ firstName, lastName, email }: Person): string =>
  [firstName, lastName].filter(Boolean).join(' ') || (email ?? words.nameless);
