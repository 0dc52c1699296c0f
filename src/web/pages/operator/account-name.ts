import { getDisplayName } from '../../components/display-name.ts';
import { operatorTexts as words } from '../../messages/operator.ts';

/** Returns the name of an account, or its email if it has none. */
export const getAccountName = (account: Parameters<typeof getDisplayName>[0]): string =>
  getDisplayName(account, words.nameless);
