import { Page } from '../../parts/page.tsx';
import { membersTexts as words } from '../../texts/members.ts';

export const MembersPage = () => <Page title={words.title}>{null}</Page>;
