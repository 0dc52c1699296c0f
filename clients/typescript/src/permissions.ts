import type { Permission } from './generated/operations.ts';

/**
 * What is known of your product when it is compiled. `roster permissions types` prints a declaration that adds
 * `productPermission`, the names of its permissions.
 */
// oxlint-disable-next-line typescript/no-empty-interface, typescript/consistent-type-definitions, typescript/no-empty-object-type -- declarations of products are merged with it
export interface RosterTypes {}

/** A permission of Roster or of your product: any text, unless the declaration of `roster permissions types` is there. */
export type AnyPermission = RosterTypes extends { productPermission: infer Product } ? Permission | Product : string;
