import type { ComponentType } from 'react';

// The paths are those of Tabler Icons (tabler.io/icons), Copyright (c) 2020-2026 Paweł Kuna, whose license is in
// icons.LICENSE. The package itself has 6,000 icons in 88 MB.

type IconProps = { readonly size?: number };

export type Icon = ComponentType<IconProps>;

/** Returns an icon on a grid of 24 units, which screen readers skip because the words beside it say the same. */
export function icon(path: string, usualSize = 20): Icon {
  const Shown = ({ size = usualSize }: IconProps) => (
    <svg
      width={size}
      height={size}
      viewBox="0 0 24 24"
      fill="none"
      stroke="currentColor"
      strokeWidth={1.75}
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
    >
      <path d={path} />
    </svg>
  );
  return Shown;
}

// These are on the first page. The others load with the pages that show them.
export const Key = icon(
  'M16.555 3.843l3.602 3.602a2.877 2.877 0 0 1 0 4.069l-2.643 2.643a2.877 2.877 0 0 1 -4.069 0l-.301 -.301l-6.558 6.558a2 2 0 0 1 -1.239 .578l-.175 .008h-1.172a1 1 0 0 1 -.993 -.883l-.007 -.117v-1.172a2 2 0 0 1 .467 -1.284l.119 -.13l.414 -.414h2v-2h2v-2l2.144 -2.144l-.301 -.301a2.877 2.877 0 0 1 0 -4.069l2.643 -2.643a2.877 2.877 0 0 1 4.069 0M15 9h.01',
);
export const Switch = icon('M21 17l-18 0M6 10l-3 -3l3 -3M3 7l18 0M18 20l3 -3l-3 -3');
export const People = icon(
  'M5 7a4 4 0 1 0 8 0a4 4 0 1 0 -8 0M3 21v-2a4 4 0 0 1 4 -4h4a4 4 0 0 1 4 4v2M16 3.13a4 4 0 0 1 0 7.75M21 21v-2a4 4 0 0 0 -3 -3.85',
  28,
);
export const Moon = icon('M12 3c.132 0 .263 0 .393 0a7.5 7.5 0 0 0 7.92 12.446a9 9 0 1 1 -8.313 -12.454l0 .008');
export const Sun = icon(
  'M8 12a4 4 0 1 0 8 0a4 4 0 1 0 -8 0M3 12h1m8 -9v1m8 8h1m-9 8v1m-6.4 -15.4l.7 .7m12.1 -.7l-.7 .7m0 11.4l.7 .7m-12.1 -.7l-.7 .7',
);

export const Mark = () => (
  <svg width={28} height={28} viewBox="0 0 32 32" aria-hidden="true" className="mark">
    <rect width="32" height="32" rx="8" />
    <g fill="#fff">
      <circle cx="11" cy="11" r="3" />
      <rect x="17" y="9.5" width="8" height="3" rx="1.5" />
      <circle cx="11" cy="21" r="3" opacity=".75" />
      <rect x="17" y="19.5" width="8" height="3" rx="1.5" opacity=".75" />
    </g>
  </svg>
);
