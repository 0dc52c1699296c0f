import { useMantineColorScheme } from '@mantine/core';
import { useTeams } from '#client/react';
import { useNavigate } from '@tanstack/react-router';
import { getTeamName } from '../components/display-name.ts';
import { Key, Moon, Sun, type Icon } from '../components/icon.tsx';
import { Book, Invitation, Keyboard, Plus, SignOutIcon, SunMoon, Teams } from '../components/icons.tsx';
import { frameTexts } from '../messages/frame.ts';
import { useSignOut } from '../components/sign-out.ts';
import { useCurrentTeam } from './current-team.ts';
import { useFrameDialogs } from '../components/frame-dialogs.ts';
import { usePlaces } from './places.ts';
import { useTeamOpener } from './team-opener.ts';

const words = frameTexts.commands;

export type Command = {
  readonly id: string;
  readonly label: string;
  /** What it is found by, instead of its label. */
  readonly terms?: readonly string[];
  readonly icon: Icon;
  readonly run: () => void;
};

type Group = { readonly title: string; readonly commands: readonly Command[] };

/** Returns all that the command palette offers on this page, in groups. */
export function useCommands(): readonly Group[] {
  return [usePagesOfTeam(), useActions(), useTeamCommands(), usePages(), useColors()].filter(
    ({ commands }) => commands.length > 0,
  );
}

function usePagesOfTeam(): Group {
  const navigate = useNavigate();
  const current = useCurrentTeam();
  const { ofTeam } = usePlaces();
  return {
    title: current === undefined ? '' : getTeamName(current.team),
    commands:
      current === undefined
        ? []
        : ofTeam.map(({ to, label, icon }) => ({
            id: to,
            label,
            icon,
            run: () => void navigate({ to, params: { teamId: current.team.slug } }),
          })),
  };
}

function useActions(): Group {
  const navigate = useNavigate();
  const openDialog = useFrameDialogs();
  const current = useCurrentTeam();
  const params = { teamId: current?.team.slug ?? '' };
  const { ofTeam } = usePlaces();
  const canInvite = ofTeam.some(({ to }) => to === '/teams/$teamId/invitations');
  const hasTeamKeys = ofTeam.some(({ to }) => to === '/teams/$teamId/api-keys');
  const invite: Command = {
    id: 'invite',
    label: words.invite,
    icon: Invitation,
    run: () => void navigate({ to: '/teams/$teamId/invitations', params, state: { dialog: 'invite' } }),
  };
  const createKey: Command = {
    id: 'create-key',
    label: hasTeamKeys ? words.createTeamKey : words.createKey,
    icon: Key,
    run: () =>
      void navigate({
        ...(hasTeamKeys ? { to: '/teams/$teamId/api-keys', params } : { to: '/api-keys' }),
        state: { dialog: 'createKey' },
      }),
  };
  return {
    title: words.actions,
    commands: [
      ...(canInvite ? [invite] : []),
      { id: 'create-team', label: frameTexts.createTeam, icon: Plus, run: () => openDialog('createTeam') },
      createKey,
    ],
  };
}

function useTeamCommands(): Group {
  const { data: teams = [] } = useTeams();
  const openTeam = useTeamOpener();
  const current = useCurrentTeam();
  const verb = words.openTeam('');
  return {
    title: frameTexts.teams,
    commands: teams
      .filter(({ id }) => id !== current?.team.id)
      .map(({ id, slug, name }) => ({
        id,
        // Formatted for the few of thousands that are shown.
        get label() {
          return words.openTeam(getTeamName({ name }));
        },
        terms: [getTeamName({ name }), slug, verb],
        icon: Teams,
        run: () => openTeam(slug),
      })),
  };
}

function usePages(): Group {
  const navigate = useNavigate();
  const openDialog = useFrameDialogs();
  const { ofAccount } = usePlaces();
  return {
    title: words.pages,
    commands: [
      ...ofAccount.map(({ to, label, icon }) => ({ id: to, label, icon, run: () => void navigate({ to }) })),
      { id: 'docs', label: frameTexts.help.reference, icon: Book, run: () => window.location.assign('/docs') },
      { id: 'shortcuts', label: frameTexts.help.shortcuts, icon: Keyboard, run: () => openDialog('shortcuts') },
    ],
  };
}

function useColors(): Group {
  // Disabling transitions would add a style element.
  const { setColorScheme } = useMantineColorScheme({ keepTransitions: true });
  const signOut = useSignOut();
  return {
    title: frameTexts.user.account,
    commands: [
      { id: 'light', label: words.light, icon: Sun, run: () => setColorScheme('light') },
      { id: 'dark', label: words.dark, icon: Moon, run: () => setColorScheme('dark') },
      { id: 'auto', label: words.auto, icon: SunMoon, run: () => setColorScheme('auto') },
      { id: 'sign-out', label: frameTexts.user.signOut, icon: SignOutIcon, run: () => signOut.submit() },
    ],
  };
}
