// A replica of a newer version: it knows one more event of teams.

import { EVENTS } from '../../../src/events/catalogue.ts';
import { ofTeam } from '../../../src/events/definition.ts';

Object.assign(EVENTS, { 'team.archived': ofTeam() });
