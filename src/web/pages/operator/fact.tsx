import type { ReactNode } from 'react';

type FactProps = {
  readonly label: string;
  /** Whether it can be long and needs its own line. */
  readonly isWide?: boolean;
  readonly children: ReactNode;
};

/** A labeled value. */
export const Fact = ({ label, isWide = false, children }: FactProps) => (
  <div data-wide={isWide || undefined}>
    <dt>{label}</dt>
    <dd>{children}</dd>
  </div>
);

type FiguresProps = { readonly of: readonly (readonly [label: string, count: number])[] };

/** Numbers side by side. */
export const Figures = ({ of }: FiguresProps) => (
  <dl className="figures">
    {of.map(([label, count]) => (
      <Fact key={label} label={label}>
        {count}
      </Fact>
    ))}
  </dl>
);
