import { Page } from '../../parts/page.tsx';
import { settingsTexts as words } from '../../texts/settings.ts';

export const SettingsPage = () => <Page title={words.title}>{null}</Page>;
