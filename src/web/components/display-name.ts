import { texts } from '../messages/console.ts';
import { neutralize, showsSomething } from '../../messages/neutralize.ts';

type Person = { readonly firstName: string | null; readonly lastName: string | null; readonly email: string | null };

/** Returns the name of a user, without what reorders or hides text, or the email if there is none, or the fallback. */
export const getDisplayName = ({ firstName, lastName, email }: Person, fallback: string): string =>
  neutralize([firstName, lastName].filter(Boolean).join(' ')).trim() || neutralize(email ?? fallback);

/** Returns the name of a team. Over REST a team can get a name that shows nothing, and its link would be empty. */
export const getTeamName = ({ name }: { readonly name: string }): string =>
  showsSomething(name) ? neutralize(name) : texts.home.nameless;
