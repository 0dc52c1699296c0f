export const SECOND_MS = 1000;
export const MINUTE_MS = 60 * SECOND_MS;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;

/** When something ends: at a time, after days, or never. The days are counted from the time of the database. */
export type End = Date | { readonly days: number } | null;

export const toEnd = (end: End, now: Date): Date | null =>
  end !== null && 'days' in end ? addDays(now, end.days) : end;

export const addDays = (date: Date, days: number): Date => new Date(date.getTime() + days * DAY_MS);
