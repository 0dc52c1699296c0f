import { readFileSync } from 'node:fs';
import { getContrast, parseColor } from '../color.ts';
import { readBy } from './values.ts';

/** A name of this instance on one line. */
export const brandName = () =>
  readBy((text) => {
    const name = text.trim().normalize('NFC');
    if (!/^[\p{L}\p{M}\p{N}\p{P}\p{S} ]{1,40}$/u.test(name) || /[<>{}]/.test(name))
      throw new Error('must be 1 to 40 letters, digits, spaces and marks, except < > { }');
    return name;
  });

const CONTRAST_MIN = 4.5; // of text (WCAG 2.2, AA)
/** A color that can be read on white, and white on it. */
export const brandColor = () =>
  readBy((text) => {
    const color = parseColor(text);
    if (color === undefined) throw new Error('must be a color as #rrggbb');
    const contrast = getContrast(color, '#ffffff');
    if (contrast < CONTRAST_MIN)
      throw new Error(
        `must have a contrast of at least ${CONTRAST_MIN}:1 with white; that of ${color} is ${contrast.toFixed(2)}:1, so choose a darker color`,
      );
    return color;
  });

/** The bytes and media type of a picture, at most 100 KB. */
export const brandLogo = () =>
  readBy((path) => {
    const type = /\.svg$/i.test(path) ? 'image/svg+xml' : /\.png$/i.test(path) ? 'image/png' : undefined;
    const body = readFileSync(path);
    if (type === undefined || body.length > 100_000) throw new Error('must be an SVG or PNG of at most 100 KB');
    return { type, body };
  });
