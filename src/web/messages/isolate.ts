import { isolate, isolateRightToLeft } from '../../messages/direction.ts';
import { neutralize, replaceQuotationMarks } from '../../messages/neutralize.ts';
import { direction } from './language.ts';

/**
 * Isolates a value that is written in the other direction than the text around it, as `bdi` does for values that stand
 * alone. In text from right to left these are nearly all: an IPv6 address would be shown in another order.
 */
export const isolateName = (name: string): string =>
  direction === 'rtl' ? isolate(neutralize(name)) : isolateRightToLeft(neutralize(name));

/** Isolates a value that a text has in quotation marks, without marks that would end the quotation. */
export const isolateQuoted = (name: string): string => isolateName(replaceQuotationMarks(name));
