import { useQuery } from '@tanstack/react-query';
import { me } from '../session.ts';

/** Formats dates for the reader: by the account's locale where it has one, else by the browser's. */
export function useDates() {
  // Only what is there already: pages for anybody do not ask who is signed in.
  const { data } = useQuery({ ...me(), enabled: false });
  const locale = supported(data?.preferredLocale);
  const day = new Intl.DateTimeFormat(locale, { dateStyle: 'medium' });
  const minute = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'short' });
  return {
    day: (iso: string) => day.format(new Date(iso)),
    minute: (iso: string) => minute.format(new Date(iso)),
    /** A country by its name, as `country` is a code where a database gave it. */
    country: (code: string) => countryName(code, locale),
  };
}

function supported(locale: string | null | undefined): string | undefined {
  if (!locale) return undefined;
  try {
    return Intl.DateTimeFormat.supportedLocalesOf(locale)[0];
  } catch {
    return undefined; // not a language tag
  }
}

function countryName(code: string, locale: string | undefined): string {
  if (!/^[A-Z]{2}$/.test(code)) return code;
  return (
    new Intl.DisplayNames(locale === undefined ? navigator.languages.slice() : locale, { type: 'region' }).of(code) ??
    code
  );
}
