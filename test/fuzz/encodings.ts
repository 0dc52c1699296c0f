import fc from 'fast-check';

/** What may become of a text on its way to bytes. */
export const ENCODINGS = {
  utf8: (text: string) => Buffer.from(text),
  withMark: (text: string) => Buffer.from(`\ufeff${text}`),
  twoMarks: (text: string) => Buffer.from(`\ufeff\ufeff${text}`),
  spaced: (text: string) => Buffer.from(`\r\n\t ${text}\n`),
  utf16: (text: string) => Buffer.from(text, 'utf16le'),
  latin1: (text: string) => Buffer.from(text, 'latin1'),
  cut: (text: string) => Buffer.from(text).subarray(0, -1),
  halved: (text: string) => Buffer.from(text.slice(0, text.length / 2)),
  twice: (text: string) => Buffer.from(text + text),
  none: () => Buffer.alloc(0),
  badByte: (text: string) =>
    Buffer.concat([Buffer.from(text.slice(0, 9)), Buffer.from([0xff]), Buffer.from(text.slice(9))]),
  surrogate: (text: string) => Buffer.concat([Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22]), Buffer.from(text)]),
  padded: (text: string) => Buffer.from(text.padEnd(110 * 1024)),
} as const;

export type Encoding = keyof typeof ENCODINGS;

export const encodings: fc.Arbitrary<Encoding> = fc.oneof(
  { weight: 12, arbitrary: fc.constant<Encoding>('utf8') },
  { weight: 2, arbitrary: fc.constantFrom(...(Object.keys(ENCODINGS) as Encoding[])) }, // Object.keys widens them
);
