import { KeysPage } from '../api-keys/keys-page.tsx';
import { useTeam } from './team.ts';

/** All keys of the team, of all creators. */
export function TeamApiKeysPage() {
  const { team } = useTeam();
  return <KeysPage teamId={team.id} />;
}
