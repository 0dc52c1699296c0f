import { Page } from '../../parts/page.tsx';
import { billingTexts as words } from '../../texts/billing.ts';

export const BillingPage = () => <Page title={words.title}>{null}</Page>;
