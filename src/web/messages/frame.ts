import { definePageTexts } from './define-page-texts.ts';

/** Texts of the frame around the pages of signed-in users. */
export const frameTexts = definePageTexts('frame', {
  leaving: {
    title: 'Leave without saving?',
    explanation: 'What you changed on this page is not saved yet.',
    submit: 'Leave',
  },
  openNavigation: 'Open navigation',
  navigation: 'Navigation',
  teamOf: 'Team: {team}',
  chooseTeam: 'Choose a team',
  findTeam: 'Find a team',
  noTeam: 'No team found',
  more: 'The first {shown, number} of {count, number} are shown. Type to find others.',
  teams: 'Teams',
  createTeam: 'Create team',
  commands: {
    title: 'Search pages and actions',
    open: 'Search',
    placeholder: 'Go to a page or run an action',
    none: 'Nothing found',
    pages: 'Your pages',
    actions: 'Actions',
    invite: 'Invite people',
    createKey: 'Create an API key',
    createTeamKey: 'Create a team API key',
    openTeam: 'Open {team}',
    light: 'Use light colors',
    dark: 'Use dark colors',
    auto: 'Use the colors of the system',
  },
  notices: {
    label: '{count, plural, =0 {Notices} one {# notice} other {# notices}}',
    none: 'No notices',
    ownership: 'Ownership of “{team}” is offered to you',
    ownKeys: '{count, plural, one {# of your API keys expires soon} other {# of your API keys expire soon}}',
    keys: '{count, plural, one {# API key of “{team}” expires soon} other {# API keys of “{team}” expire soon}}',
    seats:
      '{count, plural, =0 {No free seats in “{team}”} one {# free seat left in “{team}”} other {# free seats left in “{team}”}}',
  },
  help: {
    label: 'Help',
    shortcuts: 'Keyboard shortcuts',
    reference: 'API reference',
    problems: 'Error codes',
    events: 'Events',
  },
  user: {
    menu: 'Your account and settings',
    account: 'Account',
    colors: 'Colors',
    light: 'Light',
    dark: 'Dark',
    auto: 'System',
    signOut: 'Sign out',
  },
});
