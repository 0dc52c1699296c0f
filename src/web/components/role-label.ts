import { systemRoleTexts } from '../messages/roles.ts';

const BUILT_IN: Readonly<Partial<Record<string, string>>> = systemRoleTexts;

/** Returns the name of a role, of a built-in one in the language of the reader. */
export const getRoleLabel = (name: string): string => BUILT_IN[name] ?? name;
