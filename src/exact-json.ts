/** Number, sign and exponent of JSON, which need not be the shortest form. */
const NUMBER = /^-?(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;

type Reviver = (this: unknown, key: string, value: unknown, context?: { readonly source?: string }) => unknown;

const reviver: Reviver = (_key, value, context) =>
  typeof value === 'number' && !isExact(value, context?.source) ? Number.NaN : value;

/**
 * Parses JSON like `JSON.parse`, with NaN, which JSON does not have, in the place of each number that JavaScript would
 * change, such as 9007199254740993 or 1e400. `toStorableFaults` reports it.
 * @throws SyntaxError
 */
export function parseExactJson(text: string): unknown {
  try {
    return JSON.parse(text, reviver as (this: unknown, key: string, value: unknown) => unknown); // its type lacks `context`
  } catch (error) {
    // The reviver recurses: far deeper than what is accepted, which is reported as too deep.
    if (error instanceof RangeError) return JSON.parse(text) as unknown;
    throw error;
  }
}

/** Whether a number is the same after it was parsed and written again. */
function isExact(value: number, source: string | undefined): boolean {
  if (source === undefined) return Number.isFinite(value);
  return Number.isFinite(value) && (source === String(value) || toDecimal(source) === toDecimal(String(value)));
}

/** Returns digits and exponent, the same for every way to write a number. */
function toDecimal(source: string): string {
  const [, whole = '', fraction = '', exponent = '0'] = NUMBER.exec(source) ?? [];
  const digits = `${whole}${fraction}`.replace(/^0+/, '');
  const significant = digits.replace(/0+$/, '');
  if (significant === '') return '0';
  return `${significant}e${Number(exponent) - fraction.length + digits.length - significant.length}`;
}
