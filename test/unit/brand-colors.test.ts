import { expect, test } from 'vitest';
import { getContrast, parseColor, type Color } from '../../src/color.ts';
import { getBrandColors } from '../../src/pages/brand.ts';

const GRAYS = ['00', '2b', '55', '80', 'aa', 'd5', 'ff'];
const ACCEPTED = GRAYS.flatMap((red) => GRAYS.flatMap((green) => GRAYS.map((blue) => toColor(`${red}${green}${blue}`))))
  .filter((color) => getContrast(color, '#ffffff') >= 4.5)
  .concat('#12664f');

// The surfaces and mixtures of src/web/palette.css.
test('the console can be read in light and in dark mode with every brand color that the configuration accepts', () => {
  expect(ACCEPTED.length).toBeGreaterThan(70);
  for (const color of ACCEPTED) {
    const colors = getBrandColors(color);
    const dark = colors['brand-dark'];
    const ink = colors['brand-ink-dark'];
    const pairs: [string, Color, Color][] = [
      ['button', '#ffffff', color],
      ['link on the ground', mix(color, 88, '#000000'), '#f8f7f4'],
      ['icon at the side', mix(color, 88, '#000000'), '#f1efea'],
      ['badge', mix(color, 82, '#000000'), mix(color, 11, '#ffffff')],
      ['dark button', '#ffffff', dark],
      ['dark link', mix(ink, 90, '#ffffff'), '#222725'],
      ['dark badge', mix(ink, 55, '#ffffff'), mix(dark, 32, '#191d1b')],
    ];
    for (const [what, front, back] of pairs) {
      expect(getContrast(front, back), `${color}: ${what}, ${front} on ${back}`).toBeGreaterThanOrEqual(4.5);
    }
  }
});

/** As `color-mix(in srgb, …)` does. */
function mix(one: Color, percent: number, other: Color): Color {
  const channels = [1, 3, 5].map((at) => {
    const [a, b] = [one, other].map((color) => Number.parseInt(color.slice(at, at + 2), 16));
    return Math.round(((a ?? 0) * percent + (b ?? 0) * (100 - percent)) / 100);
  });
  return toColor(channels.map((channel) => channel.toString(16).padStart(2, '0')).join(''));
}

function toColor(digits: string): Color {
  const color = parseColor(`#${digits}`);
  if (color === undefined) throw new Error(`no color: ${digits}`);
  return color;
}
