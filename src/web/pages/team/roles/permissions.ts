import { permissionTexts } from '../../../messages/permissions.ts';
import type { Permission } from '../team.ts';

/** All permissions, in the order of the catalogue. */
export const PERMISSIONS = Object.keys(permissionTexts) as readonly Permission[]; // the keys of a record of all
