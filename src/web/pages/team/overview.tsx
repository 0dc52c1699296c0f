import { Page } from '../../parts/page.tsx';
import { useTeam } from './team.ts';

export function OverviewPage() {
  const { team } = useTeam();
  return <Page title={team.name}>{null}</Page>;
}
