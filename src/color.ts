/** A color of the sRGB space, as `#rrggbb`. */
export type Color = `#${string}`;

const WHITE = '#ffffff';

/** Parses `#rrggbb` in any case. @returns undefined for other texts */
export const parseColor = (text: string): Color | undefined =>
  /^#[0-9a-f]{6}$/i.test(text) ? `#${text.slice(1).toLowerCase()}` : undefined;

/** Returns the contrast ratio of two colors, from 1 to 21 (WCAG 2.2). */
export function getContrast(one: Color, other: Color): number {
  const [dark = 0, light = 0] = [getLuminance(one), getLuminance(other)].toSorted((a, b) => a - b);
  return (light + 0.05) / (dark + 0.05);
}

/** Returns black or white, whichever is easier to read on a color. The contrast is at least 4.5:1. */
export const getReadableText = (background: Color): Color =>
  getContrast(WHITE, background) >= 4.5 ? WHITE : '#000000';

/** Mixes as much white into a color as leaves white text on it readable. */
export function lightenBelowWhite(color: Color): Color {
  let lightest = color;
  for (let share = 0.05; share < 1; share += 0.05) {
    const mixed = toColor(toChannels(color).map((channel) => channel + (255 - channel) * share));
    if (getContrast(mixed, WHITE) < 4.5) break;
    lightest = mixed;
  }
  return lightest;
}

/** Mixes white into a color until its contrast with a dark background is sufficient. */
export function lighten(color: Color, background: Color, contrast: number): Color {
  for (let share = 0; share < 1; share += 0.05) {
    const mixed = toColor(toChannels(color).map((channel) => channel + (255 - channel) * share));
    if (getContrast(mixed, background) >= contrast) return mixed;
  }
  return WHITE;
}

const toChannels = (color: Color): number[] => [1, 3, 5].map((at) => Number.parseInt(color.slice(at, at + 2), 16));

const toColor = (channels: readonly number[]): Color =>
  `#${channels.map((channel) => Math.round(channel).toString(16).padStart(2, '0')).join('')}`;

function getLuminance(color: Color): number {
  const [red = 0, green = 0, blue = 0] = toChannels(color)
    .map((channel) => channel / 255)
    .map((share) => (share <= 0.040_45 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4));
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}
