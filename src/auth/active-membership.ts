import type { Membership } from '../entities/index.ts';

/** Returns whether a membership is active and not expired. */
export const isActiveNow = ({ isActive, expiresAt }: Pick<Membership, 'isActive' | 'expiresAt'>): boolean =>
  isActive && !isPast(expiresAt);

/** Returns whether an expiry is in the past; false without an expiry. */
export const isPast = (expiresAt: Date | null | undefined): boolean =>
  Boolean(expiresAt && expiresAt.getTime() <= Date.now());
