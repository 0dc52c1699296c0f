import { Paper } from '@mantine/core';
import { Outlet } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { Brand, ColorSchemeToggle, SkipLink } from './brand.tsx';

type CardLayoutProps = { readonly children?: ReactNode; readonly wide?: boolean };

/** A centered card, for pages with one task. */
export const CardLayout = ({ children = <Outlet />, wide = false }: CardLayoutProps) => (
  <div className="card-page">
    <SkipLink />
    <header className="card-page-header">
      <Brand />
      <ColorSchemeToggle />
    </header>
    <main id="content" className="card-page-main">
      <Paper withBorder radius="lg" className="card-page-card" mod={{ wide }}>
        {children}
      </Paper>
    </main>
  </div>
);

/** A wider card, for a decision with more text. */
export const WideCardLayout = () => <CardLayout wide />;
