import type { Membership } from '../entities/index.ts';

/** Whether a membership counts at this moment. */
export const isActiveNow = ({ isActive, expiresAt }: Pick<Membership, 'isActive' | 'expiresAt'>): boolean =>
  isActive && !isPast(expiresAt);

/** Whether a membership has an end, and it is over. */
export const isPast = (expiresAt: Date | null | undefined): boolean =>
  Boolean(expiresAt && expiresAt.getTime() <= Date.now());
