import { KeysPage } from './api-keys/keys-page.tsx';

/** The personal keys of whoever is signed in. */
export const ApiKeysPage = () => <KeysPage teamId={undefined} />;
