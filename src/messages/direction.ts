/**
 * What is written from right to left: the blocks of the Unicode standard that hold such letters now, and those that it
 * reserves for more of them (UAX #9).
 */
const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefe\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;

/** Keeps the direction of the text between them from changing that around it (FSI and PDI of UAX #9). */
export const isolate = (text: string): string => `\u2068${text}\u2069`;

/** Isolates a text that can change the direction of text from left to right around it. */
export const isolateRightToLeft = (text: string): string => (RIGHT_TO_LEFT.test(text) ? isolate(text) : text);
