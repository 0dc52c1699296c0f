type Person = { readonly firstName: string | null; readonly lastName: string | null; readonly email: string | null };

/** Returns the name of a user, or the email if there is none, or the fallback. */
export const getDisplayName = ({ firstName, lastName, email }: Person, fallback: string): string =>
  [firstName, lastName].filter(Boolean).join(' ') || (email ?? fallback);
