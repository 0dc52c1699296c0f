import type { Outputs } from '../api-types.ts';
import { definePageTexts } from './define-page-texts.ts';

type Event = Outputs['audit']['list']['events'][number];

type EventType = Outputs['events']['list']['events'][number]['type'];

/** The kinds of events that can name a team. */
type Kind =
  | 'team'
  | 'ownership'
  | 'member'
  | 'role'
  | 'invitation'
  | 'api_key'
  | 'webhook_endpoint'
  | 'oauth_grant'
  | 'oauth_token';

/** Every event that a team’s audit log can contain. Private metadata is the operator’s. */
export type TeamEvent =
  | Exclude<Extract<EventType, `${Kind}.${string}`>, `${string}.private_metadata_changed`>
  | 'operator.team_viewed'
  | 'access.denied';

/** Sentences for the events of a team. Those of a newer version are shown by name. */
const SENTENCES = {
  'team.created': '“{actor}” created the team',
  'team.renamed': '“{actor}” renamed the team',
  'team.updated': '“{actor}” changed the details of the team',
  'team.metadata_changed': '“{actor}” changed data of the application about the team',
  'team.plan_set': '“{actor}” set the plan of the team',
  'team.deleted': '“{actor}” deleted the team',
  'ownership.offered': '“{actor}” offered ownership to “{subject}”',
  'ownership.offer_withdrawn': '“{actor}” withdrew the ownership offer',
  'ownership.declined': '“{actor}” declined ownership',
  'ownership.transferred': '“{actor}” became the owner of the team',
  'member.added': '“{actor}” added “{subject}”',
  'member.role_changed': '“{actor}” gave “{subject}” the role “{target}”',
  'member.activated': '“{actor}” activated “{subject}”',
  'member.deactivated': '“{actor}” deactivated “{subject}”',
  'member.expiry_changed': '“{actor}” changed the end date of the membership of “{subject}”',
  'member.updated': '“{actor}” changed the membership of “{subject}”',
  'member.metadata_changed': '“{actor}” changed data of the application about the membership of “{subject}”',
  'member.left': '“{actor}” left the team',
  'member.removed': '“{actor}” removed “{subject}”',
  'role.created': '“{actor}” created the role “{target}”',
  'role.updated': '“{actor}” changed the role “{target}”',
  'role.deleted': '“{actor}” deleted the role “{target}”',
  'invitation.created': '“{actor}” invited “{target}”',
  'invitation.renewed': '“{actor}” invited “{target}” again',
  'invitation.resent': '“{actor}” sent the invitation of “{target}” again',
  'invitation.revoked': '“{actor}” revoked the invitation of “{target}”',
  'invitation.declined': 'The invitation of “{target}” was declined',
  'invitation.accepted': '“{subject}” accepted an invitation',
  'invitation.email_failed': 'The invitation email to “{target}” could not be sent',
  'api_key.created': '“{actor}” created the API key “{target}”',
  'api_key.updated': '“{actor}” changed the API key “{target}”',
  'api_key.rotated': '“{actor}” rotated the secret of the API key “{target}”',
  'api_key.revoked': '“{actor}” revoked the API key “{target}”',
  'webhook_endpoint.created': '“{actor}” created the webhook endpoint “{target}”',
  'webhook_endpoint.updated': '“{actor}” changed the webhook endpoint “{target}”',
  'webhook_endpoint.paused': '“{actor}” paused the webhook endpoint “{target}”',
  'webhook_endpoint.resumed': '“{actor}” resumed the webhook endpoint “{target}”',
  'webhook_endpoint.secret_rotated': '“{actor}” rotated the secret of the webhook endpoint “{target}”',
  'webhook_endpoint.tested': '“{actor}” sent a test event to the webhook endpoint “{target}”',
  'webhook_endpoint.replayed': '“{actor}” replayed deliveries of the webhook endpoint “{target}”',
  'webhook_endpoint.disabled': 'The webhook endpoint “{target}” was disabled',
  'webhook_endpoint.deleted': '“{actor}” deleted the webhook endpoint “{target}”',
  'oauth_grant.approved': '“{actor}” approved access for the app “{target}”',
  'oauth_grant.created': 'The app “{target}” of “{subject}” was connected',
  'oauth_grant.renewed': 'The access of the app “{target}” of “{subject}” was renewed',
  'oauth_grant.reduced': '“{actor}” removed permissions of the app “{target}”',
  'oauth_grant.revoked': 'The app “{target}” of “{subject}” was disconnected',
  'oauth_grant.denied': '“{actor}” denied access for the app “{target}”',
  'oauth_token.issued': 'An app of “{subject}” got a token',
  'oauth_token.repeated': 'An app of “{subject}” repeated a request for a token',
  'oauth_token.reused': 'A used token of an app of “{subject}” was used again, so the app was disconnected',
  'oauth_token.revoked': 'An app of “{subject}” revoked its token',
  'operator.team_viewed': '“{actor}” viewed the team',
  'access.denied': '“{actor}” was denied an action: missing permission',
} as const satisfies Record<TeamEvent, string>;

/** Texts of a team’s audit log. */
export const auditTexts = definePageTexts('audit', {
  title: 'Audit log',
  explanation: 'Changes and denied requests in this team, with user and IP address.',
  filter: 'Show',
  kinds: {
    '': 'All',
    team: 'The team',
    ownership: 'Ownership',
    member: 'Members',
    role: 'Roles',
    invitation: 'Invitations',
    api_key: 'API keys',
    webhook_endpoint: 'Webhooks',
    oauth_grant: 'Connected apps',
    access: 'Denied requests',
  },
  download: { ndjson: 'Download NDJSON', csv: 'Download CSV' },
  event: 'Event',
  time: 'Time',
  access: 'Key or app',
  requestColumn: 'Request ID',
  clientRequestColumn: 'Client’s request ID',
  fromDay: 'From',
  toDay: 'To',
  address: 'IP address',
  person: 'User',
  key: 'API key',
  noneFound: 'Nothing found',
  showNew: '{count, plural, one {Show # new event} other {Show # new events}}',
  noMatchTitle: 'No events match',
  noMatch: 'Change or remove a filter.',
  emptyTitle: 'No events yet',
  empty: 'Changes to the team are listed here, newest first.',
  noneTitle: 'No events of this kind',
  none: 'Choose another kind, or show all.',
  newer: 'Newer',
  older: 'Older',
  pages: 'Pages of events',
  deleted: '{id} (deleted)',
  someone: 'someone',
  goneInvitation: 'The invitation no longer exists: {id}',
  actors: {
    session: 'Former member',
    api_key: 'An API key',
    oauth_grant: 'An application',
    oauth_client: 'An application',
    anonymous: 'A user who is not signed in',
    operator_cli: 'The operator of this service',
    operator: 'The operator of this service',
    operator_key: 'The operator of this service',
    operator_session: 'The operator of this service',
    system: 'The service',
  } satisfies Record<Event['actorKind'], string>,
  withKey: 'API key {key}',
  withApplication: 'Connected app',
  from: 'from {ipAddress}',
  times: '{count} times within a minute',
  sentences: SENTENCES,
  other: '“{actor}”: {event}',
});
