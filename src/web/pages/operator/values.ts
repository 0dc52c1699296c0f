import { trpc } from '../../trpc.ts';

/** Returns the text of an optional field, trimmed; undefined if it is empty. */
export const orUndefined = (value: string): string | undefined => (value.trim() === '' ? undefined : value.trim());

/** Returns the text of a field that can be cleared. */
export const orNull = (value: string): string | null => orUndefined(value) ?? null;

const pad = (number: number): string => String(number).padStart(2, '0');

/** Returns the day of an instant in the user’s time zone, as a date field has it; empty for null. */
export function toDay(instant: string | null): string {
  if (instant === null) return '';
  const date = new Date(instant);
  return `${date.getFullYear()}-${pad(date.getMonth() + 1)}-${pad(date.getDate())}`;
}

/** Returns an instant of a day in the user’s time zone: its beginning, or its end. */
export const toInstant = (day: string, end = false): string =>
  new Date(`${day}T${end ? '23:59:59' : '00:00:00'}`).toISOString();

/** Returns the reference to an account that is named by its email address; other texts are references already. */
export async function findAccountReference(text: string): Promise<string> {
  const sought = text.trim();
  if (!sought.includes('@') || sought.startsWith('ext:')) return sought;
  const { accounts } = await trpc.operator.listAccounts.query({ email: sought });
  return accounts.find(({ email }) => email?.toLowerCase() === sought.toLowerCase())?.id ?? sought;
}
