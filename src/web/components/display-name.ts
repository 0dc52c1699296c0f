import { texts } from '../messages/console.ts';

type Person = { readonly firstName: string | null; readonly lastName: string | null; readonly email: string | null };

/** Returns the name of a user, or the email if there is none, or the fallback. */
export const getDisplayName = ({ firstName, lastName, email }: Person, fallback: string): string =>
  [firstName, lastName].filter(Boolean).join(' ') || (email ?? fallback);

/** Marks, blanks and invisible characters show nothing. */
const VISIBLE = /[^\s\p{Default_Ignorable_Code_Point}\p{Cf}\u2800]/u;

/** Returns the name of a team. Over REST a team can get a name that shows nothing, and its link would be empty. */
export const getTeamName = ({ name }: { readonly name: string }): string =>
  VISIBLE.test(name) ? name : texts.home.nameless;
