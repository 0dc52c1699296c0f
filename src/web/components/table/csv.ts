/** Text that spreadsheets evaluate as a formula (OWASP, CSV injection), also after blanks and in full width. */
const FORMULA = /^[\s\p{Cf}]*[=+\-@＝＋－＠]|^[\t\r\n]/u;

/** Returns a field of RFC 4180. Text that begins like a formula gets an apostrophe. Numbers stay numbers. */
export function csvField(value: unknown): string {
  const text = typeof value === 'string' ? value : value === undefined || value === null ? '' : JSON.stringify(value);
  const safe = typeof value === 'string' && FORMULA.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

export const csvLine = (values: readonly unknown[]): string => `${values.map(csvField).join(',')}\r\n`;

/** Saves lines as a CSV file. It begins with a byte order mark, without which Excel does not read it as UTF-8. */
export const saveCsv = (name: string, lines: readonly string[]): void => saveFile(name, ['\ufeff', ...lines]);

/** Saves text as a file. */
export function saveFile(name: string, parts: readonly BlobPart[]): void {
  const url = URL.createObjectURL(new Blob([...parts]));
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  // Some browsers start reading the URL after the click handler returns.
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
