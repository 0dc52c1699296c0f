import { Page } from '../../parts/page.tsx';
import { rolesTexts as words } from '../../texts/roles.ts';

export const RolesPage = () => <Page title={words.title}>{null}</Page>;
