import { describe } from 'vitest';
import { apiKeys } from '../web/scenes/api-keys.ts';
import { audit } from '../web/scenes/audit.ts';
import { frame } from '../web/scenes/frame.ts';
import { homeAndAccount } from '../web/scenes/home.ts';
import { invitations } from '../web/scenes/invitations.ts';
import { members } from '../web/scenes/members.ts';
import { applications } from '../web/scenes/oauth.ts';
import { operator } from '../web/scenes/operator.ts';
import { signingIn } from '../web/scenes/signing-in.ts';
import { teams } from '../web/scenes/team.ts';
import { webhooks } from '../web/scenes/webhooks.ts';
import { takePictures, test } from './stage.ts';

const SCENES = [
  ...signingIn,
  ...homeAndAccount,
  ...applications,
  ...apiKeys,
  ...operator,
  ...members,
  ...invitations,
  ...teams,
  ...audit,
  ...frame,
  ...webhooks,
];

describe('pictures of every state of a page', () => {
  test.for(SCENES)('%s', async ([name, show, maxWidth], { stage }) => {
    await takePictures(await show(stage.api, stage.open), `en-${name}`, maxWidth);
  });
});
