import { Page } from '../../parts/page.tsx';
import { invitationsTexts as words } from '../../texts/invitations.ts';

export const InvitationsPage = () => <Page title={words.title}>{null}</Page>;
