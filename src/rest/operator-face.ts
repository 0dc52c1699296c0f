import { OPERATOR_SCOPE_MEANINGS } from '../auth/operator-scopes.ts';
import { identifyOperator } from '../http/identify-operator.ts';
import type { FaceSettings } from './face-settings.ts';
import { OPERATOR_PROBLEM_SCHEMAS } from './openapi-components.ts';

const DESCRIPTION = `What the backend of the company that runs this instance needs: who a bearer is, accounts, teams,
subscriptions, events, and the keys of this API.

Send \`Authorization: Bearer <operator key>\`. Operator keys are created with \`roster operator-key create\` or by
\`createOperatorKey\`. No other credential is accepted here, and an operator key is accepted nowhere else. A call
needs a scope of the key:

${Object.entries(OPERATOR_SCOPE_MEANINGS)
  .map(([scope, meaning]) => `- \`${scope}\`: ${meaning}`)
  .join('\n')}

Query parameters and members of a body that an operation does not have are rejected (400), never ignored. Later
versions can add optional ones.

Every failure is a problem document (RFC 9457); branch on its \`code\`. Requests are counted per key in windows that
\`RateLimit-*\` headers describe.`;

/** The API of the operator. Its operations have their examples and parameters beside their contracts. */
export const OPERATOR_FACE: FaceSettings = {
  prefix: '/operator/v1',
  title: 'Roster operator API',
  description: DESCRIPTION,
  docsPath: '/docs/operator',
  tags: {
    credentials: { name: 'Credentials', description: 'Whom the callers of your own API act for.' },
    accounts: { name: 'Accounts', description: 'Accounts, their sessions and the links that they get by email.' },
    teams: { name: 'Teams', description: 'Teams, their members, owner and subscription.' },
    'api-keys': { name: 'API keys', description: 'The API keys of accounts and teams. A secret is returned once.' },
    permissions: { name: 'Permissions', description: 'The permissions of your product.' },
    'role-templates': { name: 'Role templates', description: 'The roles that each new team gets.' },
    imports: { name: 'Imports', description: 'Accounts, teams, memberships and keys of another system.' },
    events: { name: 'Events', description: 'What happened, in one order.' },
    webhooks: { name: 'Webhooks', description: 'Endpoints that get the events of the installation.' },
    clients: { name: 'OAuth clients', description: 'Your own applications, and other OAuth clients of yours.' },
    'operator-keys': { name: 'Operator keys', description: 'The keys of this API. A secret is returned once.' },
  },
  // The resource: `/operator/v1/<resource>/…`.
  tagOf: ([, , , resource]) => resource,
  examples: {},
  parameters: {},
  statuses: [400, 401, 403, 404, 409, 410, 412, 428, 429],
  declaresUnused: false,
  problemSchemas: OPERATOR_PROBLEM_SCHEMAS,
  securitySchemes: (_baseUrl, tokenBrand) => ({
    operatorKey: {
      type: 'http',
      scheme: 'bearer',
      bearerFormat: `${tokenBrand}_ok_<49 letters and digits>`,
      description: 'An operator key.',
    },
  }),
  security: () => [{ operatorKey: [] }],
  credentialVariable: 'ROSTER_OPERATOR_KEY',
  client: { factory: 'createOperator', variable: 'operator', option: 'operatorKey' },
  isPublic: false,
  identify: (http, req, { address, lookup, prefetch }) =>
    identifyOperator(http, req, {
      address,
      cost: 1,
      limit: (lookup.kind === 'found' ? lookup.route.meta.limit : undefined) ?? 'requests',
      findKey: prefetch?.findKey,
    }),
};
