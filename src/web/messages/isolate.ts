import { direction } from './language.ts';

/** The first strong isolate and its end (Unicode, annex 9): text between them does not reorder the text around it. */
const [ISOLATE, END] = ['\u2068', '\u2069'];

const RIGHT_TO_LEFT = /[\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}]/u;

/**
 * Isolates a value that is written in the other direction than the text around it, as `bdi` does for values that stand
 * alone. In text from right to left these are nearly all: an IPv6 address would be shown in another order.
 */
export const isolateName = (name: string): string =>
  direction === 'rtl' || RIGHT_TO_LEFT.test(name) ? ISOLATE + name + END : name;
