import { systemRoleTexts } from '../messages/roles.ts';
import { neutralize } from '../../messages/neutralize.ts';

const BUILT_IN: Readonly<Partial<Record<string, string>>> = systemRoleTexts;

/** Returns the name of a role, of a built-in one in the language of the reader. */
export const getRoleLabel = (name: string): string => BUILT_IN[name] ?? neutralize(name);

type Event = { readonly event: string; readonly target: { readonly name: string | null } | null };

/** Returns the name of what an event is about, of a role as above. @returns null if it no longer has a name */
export function getTargetLabel({ event, target }: Event): string | null {
  if (target === null) return '';
  const isRole = event.startsWith('member.') || event.startsWith('role.');
  return isRole && target.name !== null ? getRoleLabel(target.name) : target.name;
}
