import type { Scope } from './trpc.ts';

const ACCOUNT_ONLY: ReadonlySet<Scope> = new Set<Scope>([
  'profile:read',
  'profile:write',
  'api-keys:read',
  'api-keys:write',
]);

/** Whether a scope falls away where an application is given one team. The service decides; pages say it before. */
export const isAccountOnly = (scope: Scope): boolean => ACCOUNT_ONLY.has(scope);
