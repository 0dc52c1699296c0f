import { ActionIcon, Drawer, Kbd, UnstyledButton } from '@mantine/core';
import { useHotkeys } from '@mantine/hooks';
import { useLocation } from '@tanstack/react-router';
import { lazy, useCallback, useEffect, useState, type ReactNode } from 'react';
import { AccountChanged } from '../components/account-changed.tsx';
import { Lines, Search } from '../components/icons.tsx';
import { GuardedOutlet } from '../components/guarded-outlet.tsx';
import { LoadedDialog } from '../components/loaded-dialog.tsx';
import { Shortcuts } from '../components/shortcuts.tsx';
import { texts } from '../messages/console.ts';
import { frameTexts as words } from '../messages/frame.ts';
import { Brand, SkipLink } from '../components/brand.tsx';
import { useCurrentTeamId } from './current-team.ts';
import { FrameContext, useFrameDialogs, type FrameDialog } from '../components/frame-dialogs.ts';
import { HelpMenu } from './help-menu.tsx';
import { AccountNavigation, TeamNavigation } from './navigation.tsx';
import { Leaving } from './leaving.tsx';
import { TeamSwitcher } from './team-switcher.tsx';
import { NoticeMenu } from './notice-menu.tsx';
import { UserMenu } from './user-menu.tsx';
import './frame.css';

const CreateTeam = lazy(async () => ({ default: (await import('./create-team.tsx')).CreateTeam }));

const CommandPalette = lazy(async () => ({ default: (await import('./command-palette.tsx')).CommandPalette }));

/** The layout of all pages for signed-in users: navigation at the side, which narrow windows show in a drawer. */
export function ConsoleLayout({ children = <GuardedOutlet /> }: { readonly children?: ReactNode }) {
  const [dialog, setDialog] = useState<FrameDialog>();
  const close = useCallback(() => setDialog(undefined), []);
  useHotkeys([['mod+K', () => document.querySelector('[role="dialog"]') === null && setDialog('commands')]], []);
  return (
    <FrameContext value={setDialog}>
      <AccountChanged />
      <Leaving />
      <SkipLink />
      <div className="console">
        <header className="console-header">
          <NarrowBar />
          <div className="side">
            <Side />
          </div>
        </header>
        <main id="content" className="console-main">
          {children}
        </main>
      </div>
      <Shortcuts isOpen={dialog === 'shortcuts'} onOpen={() => setDialog('shortcuts')} onClose={close} />
      {dialog === 'createTeam' && (
        <LoadedDialog onClose={close}>
          <CreateTeam onClose={close} />
        </LoadedDialog>
      )}
      {dialog === 'commands' && (
        <LoadedDialog onClose={close}>
          <CommandPalette onClose={close} />
        </LoadedDialog>
      )}
    </FrameContext>
  );
}

function Side() {
  const isInTeam = useCurrentTeamId() !== undefined;
  return (
    <>
      <div className="side-brand">
        <Brand />
        <div className="side-tools">
          <NoticeMenu position="bottom-start" />
          <HelpMenu />
        </div>
      </div>
      <TeamSwitcher />
      <CommandButton />
      {isInTeam && (
        <div className="side-team">
          <TeamNavigation />
        </div>
      )}
      <AccountNavigation />
      <div className="side-foot" data-alone={!isInTeam || undefined}>
        <UserMenu />
      </div>
    </>
  );
}

const IS_APPLE = /Mac|iPhone|iPad/.test(navigator.platform);

function CommandButton() {
  const openDialog = useFrameDialogs();
  return (
    <UnstyledButton
      className="command-button"
      aria-keyshortcuts={IS_APPLE ? 'Meta+K' : 'Control+K'}
      onClick={() => openDialog('commands')}
    >
      <Search size={18} />
      <span>{words.commands.open}</span>
      <Kbd size="xs" aria-hidden>
        {IS_APPLE ? '⌘ K' : 'Ctrl K'}
      </Kbd>
    </UnstyledButton>
  );
}

/** The bar of narrow windows, with the button that opens the navigation. */
function NarrowBar() {
  const { href } = useLocation();
  const [isOpen, setOpen] = useState(false);
  const [shown, setShown] = useState(href);
  // Another page closes it.
  if (shown !== href) {
    setShown(href);
    setOpen(false);
  }
  // Wide windows have the navigation at the side.
  useEffect(() => {
    const isWide = window.matchMedia('(min-width: 60em)');
    const close = () => isWide.matches && setOpen(false);
    isWide.addEventListener('change', close);
    return () => isWide.removeEventListener('change', close);
  }, []);
  return (
    <div className="narrow-bar">
      <ActionIcon
        variant="subtle"
        color="gray"
        size="lg"
        aria-label={words.openNavigation}
        aria-expanded={isOpen}
        onClick={() => setOpen(true)}
      >
        <Lines />
      </ActionIcon>
      <Brand />
      <div className="narrow-notices">
        <NoticeMenu position="bottom-end" />
      </div>
      <Drawer
        opened={isOpen}
        onClose={() => setOpen(false)}
        size="18rem"
        title={words.navigation}
        // Locking would add a style element, which the Content-Security-Policy blocks.
        lockScroll={false}
        transitionProps={{ duration: 150 }}
        attributes={{ header: { role: 'none' } }}
        closeButtonProps={{ 'aria-label': texts.close }}
        classNames={{ body: 'side', content: 'side-drawer' }}
      >
        <Side />
      </Drawer>
    </div>
  );
}
