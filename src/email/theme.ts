import { getReadableText, lighten, type Color } from '../color.ts';

const LIGHT = { page: '#f1f3f6', card: '#ffffff', text: '#1c2024', muted: '#5a6169', line: '#dce0e5' } as const;
const DARK = { page: '#101215', card: '#1b1e22', text: '#eceef0', muted: '#a8afb7', line: '#343a41' } as const;

export type EmailColors = Readonly<Record<keyof typeof LIGHT | 'brand' | 'onBrand', Color>>;

/** Returns the colors of emails in light and in dark mode. The brand color becomes lighter until it can be read on dark. */
export function createEmailColors(brand: Color): { readonly light: EmailColors; readonly dark: EmailColors } {
  const brandOnDark = lighten(brand, DARK.card, 4.5);
  return {
    light: { ...LIGHT, brand, onBrand: getReadableText(brand) },
    dark: { ...DARK, brand: brandOnDark, onBrand: getReadableText(brandOnDark) },
  };
}

/**
 * Returns the style sheet, for the programs that read one. Others show the light colors, which every element has as
 * its own style.
 */
export function renderStyleSheet({ dark }: { readonly dark: EmailColors }): string {
  const rules = (prefix: string): string =>
    [
      [`.page`, `background-color:${dark.page} !important`],
      [`.card`, `background-color:${dark.card} !important;border-color:${dark.line} !important`],
      [`.line`, `border-color:${dark.line} !important`],
      [`.text`, `color:${dark.text} !important`],
      [`.muted`, `color:${dark.muted} !important`],
      [`.brand`, `color:${dark.brand} !important`],
      [`.bar`, `background-color:${dark.brand} !important`],
      [`.button`, `background-color:${dark.brand} !important;color:${dark.onBrand} !important`],
      [`.label`, `color:${dark.onBrand} !important`],
    ]
      .map(([name, style]) => `${prefix}${name}{${style}}`)
      .join('\n');

  return `:root{color-scheme:light dark;supported-color-schemes:light dark}
@media (max-width:480px){.card-content{padding:24px 20px 8px !important}}
@media (prefers-color-scheme:dark){
${rules('')}
}
${rules('[data-ogsc] ')}`;
}
