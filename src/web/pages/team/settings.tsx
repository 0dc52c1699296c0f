import { Page } from '../../components/page.tsx';
import { settingsTexts as words } from '../../messages/settings.ts';
import { Deletion } from './settings/deletion.tsx';
import { General } from './settings/general.tsx';
import { Identifiers } from './settings/identifiers.tsx';
import { Leave } from './settings/leave.tsx';
import { useTeam } from './team.ts';

export function SettingsPage() {
  const { can } = useTeam();
  return (
    <Page title={words.title} explanation={can('edit_team_settings') ? undefined : words.readOnly}>
      <General />
      <Identifiers />
      <Leave />
      <Deletion />
    </Page>
  );
}
