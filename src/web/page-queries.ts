import { language } from './messages/language.ts';
import { query } from './trpc.ts';

// What pages show. Their routes start reading it while the script of the page loads.

/** The events of *Overview* and of *Account*. */
export const SHOWN_EVENTS = { overview: 5, account: 8 };

/** What waits for the user in any team. */
export const noticesQuery = () => ({ ...query('teams.notices'), staleTime: 60_000 });

/** The API keys of a team; undefined for personal keys. */
export const keysQuery = (teamId: string | undefined) => query('apiKeys.list', { teamId });

export const membersQuery = (teamId: string) => query('members.list', { teamId });

export const invitationsQuery = (teamId: string) => query('invitations.list', { teamId });

/** The newest events of a team. */
export const activityQuery = (teamId: string) => query('audit.list', { teamId, limit: SHOWN_EVENTS.overview });

/** The webhook endpoints of a team, or of the installation. */
export const endpointsQuery = (teamId: string | null) => query('webhooks.list', { teamId });

/** The permissions of the product, in the language of the reader. */
export const permissionsQuery = () => query('permissions.list', { language });
