import type { Scope } from './trpc.ts';

const ACCOUNT_ONLY: ReadonlySet<Scope> = new Set<Scope>([
  'profile:read',
  'profile:write',
  'api-keys:read',
  'api-keys:write',
]);

/** Whether a scope changes nothing. */
export const isReadScope = (scope: Scope): boolean => scope.endsWith(':read');

/** Whether a scope cannot be granted for a single team. The service enforces it; pages show it in advance. */
export const isAccountOnly = (scope: Scope): boolean => ACCOUNT_ONLY.has(scope);
