import { isDeepStrictEqual } from 'node:util';
import type { ProductPermission } from '../entities/index.ts';
import type { EventFields } from './event.ts';

/** Returns what an event says of sorted permissions of the product that change: those before and from then on. */
export const describePermissionChange = (
  before: readonly ProductPermission[],
  after: readonly ProductPermission[],
): Pick<EventFields, 'productPermissions' | 'productPermissionsBefore'> =>
  isDeepStrictEqual(before, after) ? {} : { productPermissionsBefore: before, productPermissions: after };
