import { useQuery } from '@tanstack/react-query';
import { me } from '../session.ts';

/** Formats dates in the locale of the account, or of the browser if the account has none. */
export function useDates() {
  // Cached data only: pages without a session do not request the account.
  const { data } = useQuery({ ...me(), enabled: false });
  const locale = supported(data?.preferredLocale);
  const day = new Intl.DateTimeFormat(locale, { dateStyle: 'medium' });
  const number = new Intl.NumberFormat(locale);
  const minute = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'short' });
  return {
    day: (iso: string) => day.format(new Date(iso)),
    minute: (iso: string) => minute.format(new Date(iso)),
    number: (value: number) => number.format(value),
    /** Returns the name of a country code. Other values are returned as they are. */
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
