import { identify } from '../http/identify.ts';
import type { FaceSettings } from './face-settings.ts';
import { PROBLEM_SCHEMAS, securitySchemes } from './openapi-components.ts';
import { EXAMPLES, PARAMETERS } from './openapi-examples.ts';

/** Tags of operations by the last literal segment of their path. */
const TAGS: FaceSettings['tags'] = {
  credential: { name: 'Credential', description: 'The credential in use, with its scopes and audience.' },
  me: { name: 'Account', description: "The caller's own account." },
  sessions: { name: 'Sessions', description: "The account's sign-in sessions." },
  teams: { name: 'Teams', description: 'The teams of the account, and the account in its teams.' },
  members: { name: 'Members', description: 'The members of a team.' },
  roles: { name: 'Roles', description: 'The roles of a team.' },
  invitations: { name: 'Invitations', description: 'The pending invitations of a team.' },
  billing: { name: 'Billing', description: 'The subscription of a team. Plans cannot be changed over the API.' },
  'api-keys': {
    name: 'API keys',
    description: 'Keys of the account and of its teams. The secret is returned once, when the key is created.',
  },
};

const DESCRIPTION = `Accounts, teams, members, roles, invitations, billing status and API keys.

Send \`Authorization: Bearer <API key or OAuth 2.1 access token>\`. A call needs a scope of the
credential and, in a team, a permission of the caller's role. A team of which the caller is not an active member gets
the same 404 as one that does not exist.

Lists are plain arrays. Every failure is a problem document (RFC 9457); branch on its \`code\`. Requests are counted per
credential in windows that \`RateLimit-*\` headers describe.

The typed client of this version is installed with \`npm install <origin of this API>/clients/typescript.tgz\`.`;

/** The API of accounts and teams: the contract's 20 operations. */
export const API_FACE: FaceSettings = {
  prefix: '/api/v1',
  title: 'Roster API',
  description: DESCRIPTION,
  docsPath: '/docs',
  tags: TAGS,
  tagOf: (segments) => segments.findLast((segment) => !segment.startsWith('{')),
  examples: EXAMPLES,
  parameters: PARAMETERS,
  statuses: [400, 401, 403, 404, 429],
  declaresUnused: true,
  problemSchemas: PROBLEM_SCHEMAS,
  securitySchemes,
  security: ({ scope }) => [{ bearer: [] }, { oauth2: scope === null ? [] : [scope] }],
  credentialVariable: 'ROSTER_KEY',
  client: { factory: 'createRoster', variable: 'roster', option: 'credential' },
  isPublic: true,
  identify: (http, req, { address, teamId, path }) => identify(http, req, { address, teamId, path, cost: 1 }),
};
