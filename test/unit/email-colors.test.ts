import { expect, test } from 'vitest';
import { getContrast, parseColor } from '../../src/color.ts';
import { createEmailColors } from '../../src/email/theme.ts';

test('the contrast of two colors is that of WCAG 2.2', () => {
  expect(getContrast('#000000', '#ffffff')).toBe(21);
  expect(getContrast('#ffffff', '#767676')).toBeCloseTo(4.54, 2);
  expect(getContrast('#0b57b7', '#0b57b7')).toBe(1);
});

test('emails can be read in light and in dark mode with every brand color that the configuration accepts', () => {
  const steps = ['00', '33', '66', '99', 'cc', 'ff'];
  const brands = steps
    .flatMap((red) => steps.flatMap((green) => steps.map((blue) => parseColor(`#${red}${green}${blue}`))))
    .filter((color) => color !== undefined)
    .filter((color) => getContrast(color, '#ffffff') >= 4.5);

  expect(brands.length).toBeGreaterThan(70);
  for (const brand of brands) {
    for (const { page, card, text, muted, brand: shown, onBrand } of Object.values(createEmailColors(brand))) {
      for (const [front, back] of [
        [text, card],
        [muted, card],
        [muted, page],
        [shown, card],
        [onBrand, shown],
      ] as const)
        expect(getContrast(front, back), `${brand}: ${front} on ${back}`).toBeGreaterThanOrEqual(4.5);
      // The name of the brand is bold and at least 18.66 px large, so 3:1 is enough for it.
      expect(getContrast(shown, page), `${brand}: ${shown} on ${page}`).toBeGreaterThanOrEqual(4);
    }
  }
});
