/** Begins a CSV file that is downloaded. Without the byte order mark, Excel does not read it as UTF-8. */
export const CSV_MARK = '\ufeff';

/** Text that spreadsheets evaluate as a formula (OWASP, CSV injection), also after blanks and in full width. */
const FORMULA = /^[\s\p{Cf}]*[=+\-@＝＋－＠]|^[\t\r\n]/u;

/**
 * Returns a line of RFC 4180. Text that begins like a formula gets an apostrophe, so that spreadsheets do not evaluate
 * it: some of it is chosen by callers. Numbers stay numbers.
 */
export const csvLine = (values: readonly unknown[]): string => `${values.map(toField).join(',')}\r\n`;

function toField(value: unknown): string {
  const text = typeof value === 'string' ? value : value === undefined || value === null ? '' : JSON.stringify(value);
  const safe = typeof value === 'string' && FORMULA.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
