import { Page } from '../../parts/page.tsx';
import { operatorTexts as words } from '../../texts/operator.ts';

export const OperatorAccountPage = () => <Page title={words.title}>{null}</Page>;
