import { definePageTexts } from './define-page-texts.ts';

/** Texts of the page about a team's settings. */
export const settingsTexts = definePageTexts('settings', {
  title: 'Settings',
  readOnly: 'Your role cannot change these settings. Ask a member who can.',
  nothing: 'None',
  general: {
    title: 'General',
    explanation: 'Shown to the members. The ID and slug of the team do not change.',
    name: 'Team name',
    description: 'Description',
    saved: 'Settings saved.',
  },
  identifiers: {
    title: 'Identifiers',
    explanation: 'For use in programs. They never change.',
    id: 'Team ID',
    slug: 'Slug',
  },
  leave: {
    title: 'Leave team',
    explanation: 'This ends your membership and revokes your API keys and connected apps for this team.',
    owner: 'You own this team, and owners cannot leave. Transfer ownership to another member or delete the team.',
    open: 'Leave team…',
    confirmTitle: 'Leave “{team}”?',
    confirm:
      'You lose access immediately. API keys that you created for the team are revoked, and your connected apps lose access to it. To rejoin, you need a new invitation.',
    submit: 'Leave team',
    done: 'You left “{team}”.',
  },
  deletion: {
    title: 'Delete team',
    explanation: 'This deletes the team and everything in it for all members. This cannot be undone.',
    open: 'Delete team…',
    confirmTitle: 'Delete “{team}”?',
    goes: 'This permanently deletes:',
    parts: {
      memberships: 'all memberships (accounts are kept)',
      invitations: 'pending invitations and their links',
      roles: 'custom roles',
      apiKeys: 'the team’s API keys, and connected apps’ access to it',
      plan: 'its plan and add-ons here (this does not cancel a contract)',
    },
    type: 'Type the team’s name to confirm',
    submit: 'Delete team',
    done: 'Team “{team}” deleted.',
  },
});
