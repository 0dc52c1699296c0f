import {
  ActionIcon,
  Anchor,
  Button,
  Container,
  Group,
  Paper,
  useComputedColorScheme,
  useMantineColorScheme,
} from '@mantine/core';
import { useColorScheme } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { Link, Outlet } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { me, useSignOut } from '../session.ts';
import { texts } from '../messages/console.ts';
import { AccountChanged } from './account-changed.tsx';
import { Mark, Moon, Sun } from './icons.tsx';
import { Shortcuts } from './shortcuts.tsx';

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

/** The layout of all pages for signed-in users. */
export const ConsoleLayout = () => (
  <>
    <AccountChanged />
    <SkipLink />
    <header className="console-header">
      <Container size="md" className="console-bar">
        <Brand />
        <nav aria-label={texts.header.navigation} className="console-nav">
          <Link to="/" activeOptions={{ exact: true }}>
            {texts.header.teams}
          </Link>
          <Link to="/api-keys">{texts.header.apiKeys}</Link>
          <Link to="/account">{texts.header.account}</Link>
          <Link to="/developer">{texts.header.developer}</Link>
          <OperatorLink />
        </nav>
        <Group gap={4} wrap="nowrap" className="console-tools">
          <ColorSchemeToggle />
          <SignOut />
        </Group>
      </Container>
    </header>
    <Container component="main" id="content" size="md" className="console-main">
      <Outlet />
    </Container>
    <Shortcuts />
  </>
);

/** Shown only to operators. The service checks the role on each call. */
function OperatorLink() {
  const { data: person } = useQuery(me());
  return person?.role === 'admin' && <Link to="/operator">{texts.header.operator}</Link>;
}

const SkipLink = () => (
  <a href="#content" className="skip-link">
    {texts.skipToContent}
  </a>
);

const Brand = () => (
  <Anchor component={Link} to="/" className="brand" underline="never">
    <Mark />
    <span>{texts.product}</span>
  </Anchor>
);

function SignOut() {
  const signOut = useSignOut();
  return (
    <Button
      variant="subtle"
      color="gray"
      size="compact-sm"
      loading={signOut.isPending}
      onClick={() => signOut.mutate()}
    >
      {texts.header.signOut}
    </Button>
  );
}

/** Switches between light and dark. Choosing the system’s scheme follows the system again. */
function ColorSchemeToggle() {
  // Disabling transitions would add a style element.
  const { setColorScheme } = useMantineColorScheme({ keepTransitions: true });
  const current = useComputedColorScheme('light');
  const system = useColorScheme();
  const other = current === 'dark' ? 'light' : 'dark';
  return (
    <ActionIcon
      variant="subtle"
      color="gray"
      size="lg"
      aria-label={texts.header[other]}
      onClick={() => setColorScheme(other === system ? 'auto' : other)}
    >
      {current === 'dark' ? <Sun /> : <Moon />}
    </ActionIcon>
  );
}
