import { Page } from '../../parts/page.tsx';
import { operatorTexts as words } from '../../texts/operator.ts';

export const OperatorTeamPage = () => <Page title={words.title}>{null}</Page>;
