import { KeysPage } from './api-keys/keys-page.tsx';

/** The personal keys of the signed-in user. */
export const ApiKeysPage = () => <KeysPage teamId={undefined} />;
