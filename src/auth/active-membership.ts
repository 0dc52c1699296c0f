import type { Membership } from '../entities/index.ts';

/** Returns whether a membership is active and, when it was read, not expired. */
export const isActiveNow = ({ isActive, isExpired }: Pick<Membership, 'isActive' | 'isExpired'>): boolean =>
  isActive && !isExpired;
