export type { Authenticate, Authentication, Denied, IncomingRequest, Requirements, Sender } from './authenticate.ts';
export { createOperator, createRoster, type CallOptions, type OperatorOptions, type RosterOptions } from './client.ts';
export { isRosterError, RosterError, type ErrorCode, type OperationName } from './errors.ts';
export { followEvents, type EventPage, type FollowOptions } from './feed.ts';
export type { RosterEvent } from './generated/events.ts';
export type * from './generated/operations.ts';
export type { RosterOperator } from './generated/operator.ts';
export { listAll, type ListOptions, type ListPosition } from './pages.ts';
export { verifyWebhook, WebhookVerificationError, type ReceivedWebhook, type WebhookEvent } from './webhooks.ts';
