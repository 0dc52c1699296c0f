import { audit } from './scenes/audit.ts';
import { frame } from './scenes/frame.ts';
import { invitations } from './scenes/invitations.ts';
import { members } from './scenes/members.ts';
import { teams } from './scenes/team.ts';
import { looksWell } from './scenes/looks.ts';

looksWell([...members, ...invitations, ...teams, ...audit, ...frame]);
