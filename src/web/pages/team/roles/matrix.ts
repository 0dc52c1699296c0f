import type { OpenGroup } from '../../../components/permissions/use-groups.ts';
import type { FullRole } from './role.ts';

/** A role, and the names of its permissions. */
export type Holder = { readonly role: FullRole; readonly holds: ReadonlySet<string> };

/** What the matrix shows. */
export type Matrix = {
  readonly groups: readonly OpenGroup[];
  readonly holders: readonly Holder[];
  readonly onToggle: (title: string) => void;
};
