import { useQuery } from '@tanstack/react-query';
import { chooseLocale } from '../messages/locale.ts';
import { me } from '../session.ts';

/** Formats dates and numbers in the locale of the account, or of the browser if the account has none. */
export function useDates() {
  // Cached data only: pages without a session do not request the account.
  const { data } = useQuery({ ...me(), enabled: false });
  return formatsOf(data?.preferredLocale ?? null);
}

/** Those of the last locale: each cell of a table uses them, and creating them is slow. */
let formats: ReturnType<typeof createFormats> | undefined;

function formatsOf(preferred: string | null) {
  if (formats === undefined || formats.preferred !== preferred) formats = createFormats(preferred);
  return formats;
}

function createFormats(preferred: string | null) {
  const locale = chooseLocale(preferred);
  const day = new Intl.DateTimeFormat(locale, { dateStyle: 'medium' });
  // A day that was counted in UTC is no moment: another time zone would show the day before.
  const calendarDay = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeZone: 'UTC' });
  const shortCalendarDay = new Intl.DateTimeFormat(locale, { day: 'numeric', month: 'short', timeZone: 'UTC' });
  const number = new Intl.NumberFormat(locale);
  const time = new Intl.DateTimeFormat(locale, { timeStyle: 'short' });
  const minute = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'short' });
  return {
    preferred,
    day: (iso: string) => day.format(new Date(iso)),
    calendarDay: (date: string) => calendarDay.format(new Date(date)),
    shortCalendarDay: (date: string) => shortCalendarDay.format(new Date(date)),
    time: (iso: string) => time.format(new Date(iso)),
    minute: (iso: string) => minute.format(new Date(iso)),
    number: (value: number) => number.format(value),
    /** Returns the name of a country code. Other values are returned as they are. */
    country: (code: string) => countryName(code, locale),
  };
}

function countryName(code: string, locale: string): string {
  if (!/^[A-Z]{2}$/.test(code)) return code;
  return new Intl.DisplayNames(locale, { type: 'region' }).of(code) ?? code;
}
