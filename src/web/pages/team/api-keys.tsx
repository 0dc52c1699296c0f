import { Page } from '../../parts/page.tsx';
import { apiKeysTexts as words } from '../../texts/api-keys.ts';

export const TeamApiKeysPage = () => <Page title={words.title}>{null}</Page>;
