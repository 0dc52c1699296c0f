export { createRoster, type CallOptions, type RosterOptions } from './client.ts';
export { isRosterError, RosterError, type ErrorCode, type OperationName } from './errors.ts';
export type * from './generated/operations.ts';
