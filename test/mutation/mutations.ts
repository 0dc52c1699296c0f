/** One small fault in a rule that decides access or money, and the suites that have to notice it. */
export type Mutation = {
  readonly name: string;
  readonly file: string;
  /** Occurs exactly once in the file. */
  readonly find: string;
  readonly replace: string;
  /** Paths of test files, as vitest filters them. */
  readonly tests: readonly string[];
};

type Fault = readonly [name: string, find: string, replace: string, tests?: readonly string[]];

const faultsIn = (file: string, tests: readonly string[], faults: readonly Fault[]): Mutation[] =>
  faults.map(([name, find, replace, own = tests]) => ({ name, file, find, replace, tests: own }));

const AUTH = ['test/rest/credential', 'test/rest/access-matrix', 'test/rest/teams', 'test/rest/members'];
const TOKENS = ['test/rest/access-matrix', 'test/rest/credential', 'test/trpc/grants'];
const KEYS = ['test/rest/api-keys', 'test/trpc/api-keys-console', 'test/rest/races', 'test/oauth/races'];
const INVITATIONS = ['test/rest/invitations', 'test/trpc/invitation', 'test/rest/races'];
const MEMBERS = ['test/trpc/members', 'test/rest/members', 'test/trpc/seats'];
const ROLES = ['test/trpc/roles', 'test/rest/roles'];
const SEATS = ['test/trpc/seats', 'test/rest/invitations', 'test/rest/billing', 'test/cli/billing'];
const OAUTH = ['test/oauth/code', 'test/oauth/refresh', 'test/oauth/revocation'];
const TRANSACTIONS = ['test/trpc/console-races', 'test/rest/races', 'test/trpc/members'];
const KIT = ['test/clients/server-kit', 'test/clients/ended-sessions'];
const LOCKS = ['test/trpc/team-locks', 'test/trpc/account-locks'];

export const MUTATIONS: readonly Mutation[] = [
  ...faultsIn(
    'src/auth/permissions.ts',
    ['test/trpc/roles', 'test/rest/invitations', 'test/rest/access-matrix'],
    [
      ['anybody can grant the owner role', `role.id !== 'owner' && findMissingPermissions`, 'findMissingPermissions'],
      [
        'a role with one permission beyond one’s own can be granted',
        'findMissingPermissions(held, role).length === 0',
        'findMissingPermissions(held, role).length <= 1',
      ],
      ['a role can be granted by anybody', 'if (!canGrant(held, role)) throw', 'if (held.length > 9) throw'],
      ['a permission is never required', '!held.includes(permission)) {', 'held.length > 9) {'],
      [
        'permissions are kept in the order of the request',
        'PERMISSIONS.filter((permission) => permissions.includes(permission))',
        '[...permissions]',
      ],
    ],
  ),
  ...faultsIn(
    'src/entities/scope.ts',
    ['test/rest/oauth-tokens', 'test/rest/api-keys', 'test/oauth/consent', 'test/rest/credential'],
    [
      ['api-keys:write is no account scope', `  'api-keys:write',\n];`, '];'],
      ['profile:read is no account scope', `readonly Scope[] = [\n  'profile:read',`, 'readonly Scope[] = ['],
    ],
  ),
  ...faultsIn(
    'src/auth/scopes.ts',
    ['test/rest/oauth-tokens', 'test/rest/api-keys', 'test/oauth/consent', 'test/rest/credential'],
    [
      ['a team grant enforces account scopes', ' && !(teamId !== null && isAccountOnly(scope))', ''],
      ['a token has all scopes of its grant', 'token.includes(scope) && ', ''],
      [
        'scopes are kept in the order of the request',
        'SCOPES.filter((scope) => scopes.includes(scope))',
        '[...scopes]',
      ],
    ],
  ),
  ...faultsIn('src/auth/authenticate.ts', AUTH, [
    [
      'anything is looked up as a session',
      `tokens.parseKind(token) !== 'session'`,
      'token === undefined',
      ['test/rest/cost'],
    ],
    [
      'a team credential finds a membership elsewhere',
      'principal.teamId !== null && principal.teamId !== teamId',
      'false',
      ['test/trpc/trpc.test'],
    ],
  ]),
  ...faultsIn('src/auth/find-credential.ts', AUTH, [
    [
      'a disabled account’s credentials work',
      'where ${where} and a.disabled_at is null`);',
      'where ${where}`);',
      ['test/cli/account', 'test/trpc/operator', ...AUTH],
    ],
    [
      'a disabled account’s credentials work in teams',
      'where ${where} and a.disabled_at is null`,',
      'where ${where}`,',
      ['test/cli/account', 'test/trpc/operator', ...AUTH],
    ],
    [
      'a rotated secret works for good',
      's.secret_hash = $1 and (s.expires_at is null or s.expires_at > now())',
      's.secret_hash = $1',
      KEYS,
    ],
    [
      'a key has of the product what its role does not hold',
      "r.id <> 'owner' and ${limit} not in",
      'false and ${limit} not in',
      ['test/operator/permissions'],
    ],
    ['a team key reaches other teams', `membershipFilter: 'and (k.team_id is null or k.team_id = m.team_id)',`, ''],
    [
      'a team grant reaches other teams',
      `membershipFilter: 'and (g.team_id is null or g.team_id = m.team_id)',`,
      '',
      TOKENS,
    ],
    [
      'a refresh token works as an access token',
      `k.token_hash = $1 and k.kind = 'access' and`,
      'k.token_hash = $1 and',
      [...TOKENS, 'test/oauth/refresh', 'test/oauth/code'],
    ],
    ['an access token never expires', `k.kind = 'access' and k.expires_at > now()`, `k.kind = 'access'`, TOKENS],
  ]),
  ...faultsIn('src/db/predicates.ts', MEMBERS, [
    [
      'what has expired is current',
      '.expires_at is null or ${alias}.expires_at > now())',
      '.expires_at is null or true)',
      [...AUTH, ...MEMBERS, ...TRANSACTIONS],
    ],
    [
      'a deactivated membership is active',
      '`${alias}.is_active and ${isCurrent(alias)}`',
      'isCurrent(alias)',
      TRANSACTIONS,
    ],
  ]),
  ...faultsIn(
    'src/auth/active-membership.ts',
    [...MEMBERS, ...INVITATIONS],
    [
      ['a deactivated membership counts', 'isActive && !isExpired', '!isExpired'],
      ['an expired membership counts', 'isActive && !isExpired', 'isActive'],
    ],
  ),
  ...faultsIn(
    'src/transactions/targets.ts',
    ['test/trpc/account-locks'],
    [
      [
        'a caller who was refused meanwhile changes the account',
        `const { is_live: isLive } = state as { is_live: boolean };`,
        `const { is_live: isLive } = { ...(state as { is_live: boolean }), is_live: true };`,
      ],
    ],
  ),
  ...faultsIn('src/transactions/live-caller.ts', LOCKS, [
    ['an account that was disabled meanwhile goes on', ' and a.disabled_at is null)', ')'],
    ['a key that was revoked meanwhile goes on', " and ${liveApiKey('k')} and (", ' and ('],
    ['a key whose grant was revoked meanwhile goes on', " and (k.oauth_grant_id is null or (${liveGrant('g')})))", ')'],
    ['a grant that was revoked meanwhile goes on', " and ${liveGrant('g')} and (${family}", ' and (${family}'],
  ]),
  // Families and sessions of others exist there, which must not count.
  ...faultsIn(
    'src/transactions/live-caller.ts',
    ['test/trpc/credential-locks'],
    [
      ['a session that was revoked meanwhile goes on', " and ${openSession('s')})", ')'],
      [
        'a token whose family ended meanwhile goes on',
        'where f.id = ${family} and ${liveFamily(',
        'where ${family} is not null or ${liveFamily(',
      ],
      ['a first-party token whose session ended meanwhile goes on', " and ${liveFamily('f', 'g')})))", ')))'],
    ],
  ),
  ...faultsIn(
    'src/resources/sign-in/password.service.ts',
    ['test/trpc/auth-throttle', 'test/trpc/remaining-access', 'test/trpc/auth.test'],
    [
      ['known browsers outlive a reset', '    forgetDevices(tx, account.id, browserClient);\n', ''],
      ['sessions outlive a reset', `    await revokeSessions(tx, { account: account.id }, 'password reset');\n`, ''],
    ],
  ),
  ...faultsIn(
    'src/resources/sign-in/remaining-access.ts',
    ['test/trpc/remaining-access'],
    [
      ['known browsers outlive the revocation', '    forgetDevices(tx, accountId, browserClient);\n', ''],
      ['keys outlive the revocation', '    await revokeApiKeys(tx, { account: accountId }, reason);\n', ''],
      ['grants outlive the revocation', '    await revokeGrants(tx, { account: accountId }, reason);\n', ''],
      ['passkeys outlive the revocation', '      tx.em.remove(passkey);\n', ''],
      ['links to a new address outlive the revocation', `    deleteTokens(tx, accountId, ['change_email']);\n`, ''],
    ],
  ),
  ...faultsIn(
    'src/auth/recent-proof.ts',
    ['test/trpc/recent-proof'],
    [
      ['no proof is required of a session', `caller.kind !== 'session'`, `caller.kind === 'session'`],
      ['a proof is recent for good', '.provenUntil !== null;\n}', '.provenUntil !== undefined;\n}'],
      ['a proof is recent for 100 minutes', 'PROOF_MINUTES = 10', 'PROOF_MINUTES = 100'],
    ],
  ),
  ...faultsIn(
    'src/auth/dpop.ts',
    ['test/oauth/dpop'],
    [
      ['a proof of any key is taken', 'verified.thumbprint === thumbprint &&', ''],
      ['a proof for any method is taken', 'htm === method &&', ''],
      ['a proof for any URL is taken', 'isSameResource(htu, url) &&', ''],
      ['a proof for any token is taken', `ath === hash('sha256', token, 'base64url')`, 'ath !== undefined'],
      ['a proof of any age is taken', 'proof !== undefined && !isRecent(proof.iat)', 'false'],
      ['two proofs are taken', 'proof === undefined || others.length > 0', 'proof === undefined'],
    ],
  ),
  ...faultsIn(
    'src/rate-limit/attempt-limiters.ts',
    ['test/oauth/dpop'],
    [
      ['a proof can be repeated after a second', '1, PROOF_MEMORY_SECONDS', '1, 1'],
      ['a proof can be used twice', `createWindows('proofs', 1,`, `createWindows('proofs', 2,`],
      [
        'the attempts at an account have the limit of an address',
        `createWindows('by_account', config.signInLimit)`,
        `createWindows('by_account', config.signInAddressLimit)`,
        ['test/trpc/auth-throttle'],
      ],
    ],
  ),
  ...faultsIn(
    'src/rate-limit/memory-windows.ts',
    ['test/rest/rate-limit.test', 'test/rate-limit/limiter.test'],
    [
      [
        'one request more fits',
        'used + cost > limit) return decision(false, used,',
        'used + cost > limit + 1) return decision(false, used,',
      ],
      ['nothing is counted', 'current.used = used + cost;', 'current.used = used;'],
      [
        'a refund gives everything back',
        'Math.max(window.used - 1, 0);\n    },',
        '0;\n    },',
        ['test/rate-limit/limiter.test', 'test/trpc/auth-throttle'],
      ],
      ['a window never ends', 'window !== undefined && window.endsAt > now ? window', 'window !== undefined ? window'],
    ],
  ),
  ...faultsIn(
    'src/rate-limit/attempts.ts',
    ['test/trpc/auth-throttle', 'test/trpc/auth'],
    [
      ['attempts are not limited', 'if (!allowed)', 'if (false)'],
      ['spellings of an email have limits of their own', 'attempt.email.toLowerCase()', 'attempt.email'],
      [
        'known browsers share the limit of strangers',
        `: [own('guess', attempt.deviceId)];`,
        `: [own('guess', 'all')];`,
      ],
    ],
  ),
  ...faultsIn(
    'src/procedures/authorize.ts',
    ['test/rest/access-matrix', 'test/rest/order-of-checks', 'test/trpc/console-access'],
    [
      [
        'no scope is required',
        'const missing = findMissingScope(principal, isFirstParty ? { scope: access.firstParty } : access);',
        'const missing = access.scope === undefined ? findMissingScope(principal, access) : undefined;',
      ],
      [
        'a team credential reaches the account',
        'access.accountLevel && principal.teamId !== null',
        'access.accountLevel && false',
      ],
      ['keys do what sessions do', `access.sessionOnly && principal.kind !== 'session'`, 'access.sessionOnly && false'],
    ],
  ),
  ...faultsIn(
    'src/procedures/procedures.ts',
    ['test/rest/access-matrix', 'test/trpc/operator'],
    [
      ['everybody is an operator', ` and role = 'admin' and disabled_at`, ' and disabled_at'],
      [
        'no permission is required before the lock',
        'for (const required of [permission, ...otherPermissions]) requirePermission(membership.permissions, required);\n',
        '',
      ],
      [
        'strangers see the team',
        `if (!membership) throw new ProblemError('team_not_found');`,
        `if (!membership && teamId === '') throw new ProblemError('team_not_found');`,
      ],
    ],
  ),
  ...faultsIn('src/transactions/caller.ts', LOCKS, [
    [
      'an inactive caller changes the team',
      " and m.account_id = $2 and ${activeMembership('m')}",
      ' and m.account_id = $2',
    ],
    [
      'a caller who was refused meanwhile changes the team',
      `if (state?.is_live === false) throw`,
      `if (state === undefined) throw`,
    ],
    ['a permission is not looked at under the lock', `    requirePermission(permissions ?? [], requires);\n`, ''],
    [
      'any member does what the owner does',
      `if (id !== 'owner') throw`,
      `if (id === '') throw`,
      ['test/trpc/ownership', 'test/trpc/teams', ...LOCKS],
    ],
  ]),
  ...faultsIn('src/transactions/change-at-once.ts', LOCKS, [
    [
      'a team is changed in one round trip without its lock',
      '[lockTeamStep, [teamId]]',
      `[lockTeamStep, [teamId.slice(1)]]`,
    ],
    ['a team is changed in one round trip without the permission', ' and $3 = any(r.permissions))', ')'],
    [
      'a team is changed in one round trip by an inactive member',
      "where m.team_id = $1 and m.account_id = $2 and ${activeMembership('m')} and $3",
      'where m.team_id = $1 and m.account_id = $2 and $3',
    ],
    [
      'a team is changed in one round trip with a revoked credential',
      '`${CALLER_HOLDS} and ${isLive}`',
      'CALLER_HOLDS',
    ],
  ]),
  ...faultsIn(
    'src/transactions/revocation.ts',
    ['test/trpc/grant-ends', 'test/rest/members', 'test/oauth/races', 'test/trpc/grants', 'test/oauth/audit-endings'],
    [['keys outlive their grant', `await endKeys(grants.map(({ id }) => id));`, '']],
  ),
  ...faultsIn(
    'src/resources/members/end-membership.ts',
    ['test/trpc/grant-ends', 'test/rest/members', 'test/oauth/races', 'test/trpc/grants', 'test/oauth/audit-endings'],
    [
      ['grants outlive the membership', 'if (grants.length > 0) change.later(revokeGrantsStep(grants));', ''],
      ['keys outlive the membership', 'if (keys.length > 0) change.later(revokeKeysStep(keys));', ''],
      [
        'an offer of ownership outlives the membership',
        '(delete from ownership_transfer where team_id = $1 and nominee_id = $2)',
        '(select)',
        ['test/trpc/ownership', 'test/rest/members'],
      ],
    ],
  ),
  ...faultsIn('src/transactions/targets.ts', LOCKS, [
    [
      'a team is changed without its lock',
      'return [[lockTeamStep, [on.team]], ...accounts];',
      'return [[lockAccountsShared, [own, other]]];',
    ],
    [
      'a team is changed by whoever was allowed before',
      'return requireRole(state as CallerState | undefined, requires as Requirement);',
      `return { id: (state as CallerState).role_id ?? '', permissions: (state as CallerState).permissions ?? [] };`,
    ],
  ]),
  ...faultsIn('src/resources/billing/seats.ts', SEATS, [
    ['one seat more than paid for', 'if (taken < seats) return;', 'if (taken <= seats) return;'],
    ['invitations take no seat', 'taken: members + invitations,', 'taken: members,'],
    ['members take no seat', 'taken: members + invitations,', 'taken: invitations,'],
  ]),
  ...faultsIn('src/resources/billing/plans.ts', SEATS, [
    ['bought seats do not count', `plan.seats + (addons['seats'] ?? 0)`, 'plan.seats'],
    ['only bought seats count', `plan.seats + (addons['seats'] ?? 0)`, `(addons['seats'] ?? plan.seats)`],
  ]),
  ...faultsIn(
    'src/resources/teams/team-quota.ts',
    ['test/rest/teams', 'test/trpc/ownership', 'test/trpc/teams'],
    [['one team more than the limit', 'number >= limit', 'number > limit']],
  ),
  ...faultsIn('src/resources/api-keys/creation.service.ts', KEYS, [
    ['one key more than the limit', 'active >= config.keyLimit', 'active > config.keyLimit'],
    ['a new key gets any scopes', `    requireHeldScopes(held.scopes, scopes, 'The calling credential');\n`, ''],
    [
      'an unverified account makes a key',
      `  if (createdBy !== 'operator' && !isVerified) throw new ProblemError('email_not_verified');\n`,
      '',
      ['test/trpc/sign-in-link'],
    ],
  ]),
  ...faultsIn('src/transactions/targets.ts', LOCKS, [
    [
      'a caller who was refused meanwhile changes the account, by named statements',
      `if (!isLive) throw`,
      `if (isLive === undefined) throw`,
    ],
  ]),
  ...faultsIn(
    'src/resources/api-keys/held-scopes.ts',
    [...KEYS, 'test/rest/oauth-tokens'],
    [
      [
        'a new key holds what the grant of its token holds',
        `'oauth-grant' ? grant?.scopes.filter((scope) => scopes.includes(scope))`,
        `'oauth-grant' ? grant?.scopes`,
      ],
    ],
  ),
  ...faultsIn('src/resources/api-keys/api-keys.service.ts', KEYS, [
    [
      'a key gets scopes that its maker lacks',
      `if (beyond.length > 0) throw new ProblemError('scope_not_allowed'`,
      `if (beyond.length > 99) throw new ProblemError('scope_not_allowed'`,
    ],
    ['a team key gets account scopes', 'if (accountOnly.length > 0) {', 'if (accountOnly.length > 99) {'],
    ['a token hands on what its grant holds', 'held.filter((scope) => caller.scopes.includes(scope))', 'held'],
  ]),
  ...faultsIn('src/transactions/lock-order.ts', KEYS, [
    [
      'a credential that was revoked meanwhile makes a key',
      'where ${which} for share`);',
      "where ${which} ${table === 'api_key' ? '' : 'for share'}`);",
    ],
  ]),
  ...faultsIn('src/transactions/lock-credentials.ts', KEYS, [
    ['a revoked key gets new scopes', 'from api_key where revoked_at is null`;', 'from api_key where true`;'],
    [
      'a key of another account gets new scopes',
      ' and account_id = $1 and id in ($2, $3)',
      ' and $1::text is not null and id in ($2, $3)',
    ],
  ]),
  ...faultsIn('src/resources/invitations/invitations.service.ts', INVITATIONS, [
    ['an invitation takes no free seat', '    if (pending === undefined) requireFree(config.plans, seats);\n', ''],
    [
      'an invitation to any role is allowed',
      '      requireCanGrant(opened.role, role);\n      const [known]',
      '      const [known]',
    ],
  ]),
  ...faultsIn('src/resources/invitations/invitations.service.ts', INVITATIONS, [
    [
      'an invitation of another team can be revoked or sent again',
      'from invitation i where i.team_id = $1`',
      'from invitation i where $1::text is not null`',
      ['test/rest/foreign-ids', ...INVITATIONS],
    ],
  ]),
  ...faultsIn(
    'src/resources/invitations/acceptance.service.ts',
    ['test/trpc/invitation'],
    [
      [
        'another address accepts',
        'if (!isSameEmailAddress(account.email, invitation.email)) throw',
        'if (account.email === null) throw',
      ],
      ['an unverified address accepts', 'if (!account.emailVerifiedAt) throw', 'if (account.email === null) throw'],
      [
        'an invitation to an active member changes the role',
        'membership.isActive && membership.isExpired',
        'membership.isActive',
      ],
      [
        'an inactive member comes back by an invitation',
        'membership.isActive && membership.isExpired',
        '!membership.isActive || membership.isExpired',
      ],
    ],
  ),
  ...faultsIn(
    'src/db/predicates.ts',
    ['test/trpc/invitation'],
    [
      [
        'an invitation never expires',
        '.accepted_at is null and ${alias}.expires_at > now()`;',
        '.accepted_at is null`;',
      ],
    ],
  ),
  ...faultsIn('src/resources/members/membership-changes.service.ts', MEMBERS, [
    ['a role beyond one’s own can be given', '    requireCanGrant(held, role);', ''],
    [
      'activation takes no seat',
      `    await requireFreeSeat(tx, config.plans, caller.teamId);\n    await requireProofToGive(`,
      '    await requireProofToGive(',
    ],
    ['a later end takes no seat', 'if (membership.isActive && membership.isExpired) await', 'if (false) await'],
    ['the owner can be changed', `if (membership.role.id === 'owner')`, `if (membership.role.id === '')`],
    ['members above oneself can be changed', 'if (beyond.length > 0)', 'if (beyond.length > 99)'],
  ]),
  ...faultsIn('src/resources/members/members.service.ts', MEMBERS, [
    [
      'the owner can be removed',
      `if (membership.role_id === 'owner') throw new ProblemError('owner_not_removable');`,
      '',
    ],
  ]),
  ...faultsIn(
    'src/resources/roles/find-team-role.ts',
    [...INVITATIONS, ...MEMBERS],
    [
      [
        'a role of another team can be granted',
        '{ id: roleId, $or: [{ team: null }, { team: teamId }] }',
        '{ id: roleId }',
      ],
      [
        'an invitation to a role of another team is allowed',
        ' and (team_id is null or team_id = $1)',
        ' and $1::text is not null',
      ],
    ],
  ),
  ...faultsIn('src/resources/roles/roles.service.ts', ROLES, [
    ['a role can be raised above oneself', '    requireOwnRights(by.held, after);\n', ''],
    [
      'a role above oneself can be changed',
      '    requireOwnRights(by.held, role);\n    requireOwnRights(by.held, after);',
      '    requireOwnRights(by.held, after);',
    ],
    [
      'a role above oneself can be deleted',
      'if (by !== null) requireOwnRights(by.held, role);\n  const replacement',
      'const replacement',
    ],
  ]),
  ...faultsIn('src/resources/oauth-grants/exchange.service.ts', OAUTH, [
    ['a code can be used twice', ' and consumed_at is null returning token_hash', ' returning token_hash'],
    [
      'a code is consumed by a request for another resource',
      'requestedResource !== undefined && requestedResource !== consent.resource',
      'false',
      ['test/oauth/families', 'test/oauth/code'],
    ],
  ]),
  ...faultsIn('src/oauth/token-statements.ts', OAUTH, [
    [
      'a refresh token can be used twice',
      `where token_hash = $1 and kind = 'refresh' and consumed_at is null`,
      `where token_hash = $1 and kind = 'refresh'`,
    ],
    [
      'a token is issued for a revoked grant',
      'where p.token_hash = $3 and g.revoked_at is null and g.expires_at > now()',
      'where p.token_hash = $3',
      ['test/oauth/races', 'test/oauth/code', 'test/oauth/refresh', 'test/trpc/grants'],
    ],
  ]),
  ...faultsIn('src/oauth/tokens.ts', OAUTH, [
    [
      'a refresh token is consumed by a request for another resource',
      'resource !== undefined && findResource(services.config.baseUrl, RefreshToken?.resource) !== resource',
      'false',
      ['test/oauth/families', 'test/oauth/refresh'],
    ],
    [
      'a token that was used twice ends nothing',
      'await endTokenFamily(tx, familyId, `${kind} used twice`);',
      '',
      ['test/oauth/families', ...OAUTH],
    ],
  ]),
  ...faultsIn(
    'src/oauth/refresh-answers.ts',
    ['test/oauth/refresh'],
    [
      [
        'an answer is repeated although its tokens were used',
        'and s.used_at is null and s.consumed_at is null))',
        '))',
      ],
      ['an answer is repeated after the grant was revoked', 'and g.revoked_at is null and g.expires_at > now()', ''],
      [
        'an answer with more scopes than the grant is repeated',
        'and (g.narrowed_at is null or g.narrowed_at < t.consumed_at)',
        '',
      ],
    ],
  ),
  ...faultsIn(
    'src/crypto/encryption.ts',
    ['test/jobs/worker'],
    [['only the first key decrypts', 'for (const key of keys) {', 'for (const key of keys.slice(0, 1)) {']],
  ),
  ...faultsIn(
    'src/auth/last-used.ts',
    ['test/rest/timers'],
    [
      [
        'uses are written at the end only',
        'setInterval(() => void flush(), FLUSH_MS)',
        'setInterval(() => undefined, FLUSH_MS)',
      ],
    ],
  ),
  ...faultsIn(
    'src/events/denials.ts',
    ['test/rest/timers'],
    [
      [
        'denials are written at the end only',
        'setInterval(() => void flush(), FLUSH_MS)',
        'setInterval(() => undefined, FLUSH_MS)',
      ],
    ],
  ),
  ...faultsIn(
    'src/procedures/authorize.ts',
    ['test/operator/access-matrix', 'test/operator/imports'],
    [
      [
        'one scope of several is enough for an operator key',
        'scope === null ? otherScopes : [scope, ...otherScopes]',
        'scope === null ? otherScopes : [scope]',
      ],
      [
        'an operator key needs no scope',
        'const missing = findMissingScope(operator, access);',
        'const missing = undefined;',
      ],
    ],
  ),
  ...faultsIn(
    'src/auth/operator.ts',
    ['test/operator/access-matrix', 'test/operator/keys', 'test/operator/verify'],
    [
      ['an operator key is valid from every address', 'if (!isInNetworks(', 'if (bearer === address && !isInNetworks('],
      ['the old secret of an operator key never expires', '(os.expires_at is null or os.expires_at > now())', 'true'],
      ['a revoked operator key is valid', "and ${liveApiKey('ok')}`;", '`;'],
    ],
  ),
  ...faultsIn(
    'src/transactions/operator-caller.ts',
    ['test/operator/accounts'],
    [['a key ends the last operator', 'if (isKey && isOperator)', "if (isKey && isOperator && caller === 'system')"]],
  ),
  ...faultsIn(
    'src/resources/accounts/require-account.ts',
    ['test/operator/teams'],
    [['a disabled account gets a team', 'if (isDisabled) throw', "if (isDisabled && pointer === '') throw"]],
  ),
  ...faultsIn(
    'src/auth/networks.ts',
    ['test/operator/keys', 'test/operator/access-matrix'],
    [
      ['an unreadable address is in every network', 'if (!ipaddr.isValid(address)) return false;', ''],
      ['a key gives a wider network than its own', 'innerBits >= outerBits && ', ''],
      ['a key without addresses counts as limited', 'networks.length > 0 &&', ''],
    ],
  ),
  ...faultsIn(
    'src/resources/credential-verification/verify.service.ts',
    ['test/operator/verify'],
    [
      ['a credential without the scopes is valid', 'scopes.every((scope) => principal.scopes.includes(scope))', 'true'],
      [
        'a stranger to the team is valid',
        "teamId !== undefined || askedOf(input).length > 0 ? 'team_not_found' : null",
        'null',
      ],
      [
        'a member without the permission is valid',
        "return missing.length === 0 ? null : 'permission_missing'",
        'return null',
      ],
      ['a token of another resource is valid', 'found?.resource !== resource', 'false'],
      ['a credential over its limit is valid', "decision?.allowed === false ? 'rate_limited' : ", ''],
    ],
  ),
  ...faultsIn(
    'src/resources/imports/upload.service.ts',
    ['test/operator/imports'],
    [
      ['an upload that failed stays', 'runInBackground(() => db.run(discardUpload, [id]))', 'Promise.resolve()'],
      ['an upload that is repeated is not looked up', '(await hasAnswer(tx, call)) ? null', 'false ? null'],
      ['an upload that was overtaken by an equal one stays', 'if (accepted.id !== id) await', 'if (false) await'],
      ['a repeated upload is not compared by its query', 'input: { isDryRun, ...(isSilent', 'input: { ...(isSilent'],
      ['a broken upload blocks its key for good', "updated_at < now() - interval '${BROKEN_AFTER}'`", 'false`'],
    ],
  ),
  ...faultsIn(
    'src/rest/input.ts',
    ['test/operator/unknown-members'],
    [
      ['a misspelled query parameter is ignored', "route.isClosed && query !== '' ?", 'false ?'],
      [
        'an unknown query parameter hides all other faults',
        '{ errors }), route, input, () => true',
        '{ errors }), route, input, () => false',
      ],
    ],
  ),
  ...faultsIn(
    'src/procedures/known-members.ts',
    ['test/operator/unknown-members'],
    [
      ['a misspelled member of a body is ignored', '.every(isTolerated)', '.every(() => true)'],
      ['a member that every object has is known', '!Object.hasOwn(shape, name)', '!(name in shape)'],
      ['`__proto__` is left out of a text', 'Object.hasOwn(raw, IGNORED)', 'false', ['test/operator/permissions']],
    ],
  ),
  ...faultsIn(
    'src/rest/routes.ts',
    ['test/operator/unknown-members'],
    [['the contract of /api/v1 is closed', 'isClosed: meta.access?.isOperatorApi === true', 'isClosed: true']],
  ),
  ...faultsIn(
    'src/resources/imports/upload-job.ts',
    ['test/operator/imports'],
    [['the import of a revoked key goes on', 'if (!key || key.revokedAt) throw', 'if (!key) throw']],
  ),
  ...faultsIn(
    'src/resources/imports/imports.queries.ts',
    ['test/operator/imports'],
    [
      [
        'an import is visible to every operator key',
        'id = $1 and operator_key_id = $2',
        'id = $1 and $2::text is not null',
      ],
    ],
  ),
  ...faultsIn(
    'src/db/connection/connection.ts',
    ['test/faults/jit'],
    [
      [
        'a connection lets PostgreSQL compile statements',
        "[JIT_OFF, options].filter(Boolean).join(' ')",
        "options ?? ''",
      ],
      [
        'a connection behind a pooler lets PostgreSQL compile statements',
        "isBare || SETS_JIT.test(options) ? undefined : 'off'",
        'undefined',
      ],
      ['what the URL says of compiling is overruled', '[JIT_OFF, options]', '[options, JIT_OFF]'],
    ],
  ),
  ...faultsIn(
    'src/events/chain/verify.ts',
    ['test/events/chain-attacks'],
    [
      [
        'the newest root is taken unverified',
        'head?.root ?? last?.root ?? oldRoot ?? GENESIS',
        "(await readCheckpoints(tx, 'is_root order by sequence desc limit 1'))[0] ?? GENESIS",
      ],
      ['the signature of the end and the newest checkpoint is not verified', 'key === -1', 'key === -9'],
      [
        'an unsigned root is accepted although a signed one was seen',
        'known?.root !== undefined || walk.isRootSigned || (await wasRootSigned(tx))',
        'false',
      ],
    ],
  ),
  ...faultsIn(
    'src/events/chain/state.ts',
    ['test/events/chain-attacks'],
    [
      [
        'the roots of end and newest checkpoint are not compared',
        "isSameRoot(ofHead, ofCheckpoint) ? null : 'root_differs'",
        'null',
      ],
    ],
  ),
  ...faultsIn(
    'src/events/chain/root.ts',
    ['test/events/chain-attacks'],
    [['retention’s end is not signed', '[sequence, hash, prunedBefore, at];', '[sequence, hash, at];']],
  ),
  ...faultsIn(
    'src/oauth/provider.ts',
    ['test/oauth/limits'],
    [
      [
        'a client that anybody registers has a limit of its own',
        "source === 'operator' && Provider.ctx",
        'Provider.ctx',
      ],
      ['no client has a limit of its own', "source === 'operator' && Provider.ctx", 'false && Provider.ctx'],
    ],
  ),
  ...faultsIn(
    'src/oauth/handler.ts',
    ['test/oauth/limits'],
    [['pushed requests are not counted at the address', "named('par'), limit,", "named('par'),"]],
  ),
  ...faultsIn(
    'src/oauth/request-parameters.ts',
    ['test/oauth/par'],
    [
      ['67 KB of parameters are stored', 'PARAMETERS_BYTES_MAX = 8 * 1024', 'PARAMETERS_BYTES_MAX = 67 * 1024'],
      ['parameters that are not used are stored', 'if (!AUTHORIZATION_PARAMETERS.has(name)) continue;', ''],
    ],
  ),
  ...faultsIn(
    'src/procedures/fields.ts',
    ['test/trpc/readable-names'],
    [
      ['a name turns the text around it', String.raw`\u202A-\u202E`, String.raw`\u202A-\u202D`],
      ['a name shows nothing', ' && showsSomething(name)', ''],
    ],
  ),
  ...faultsIn(
    'src/messages/neutralize.ts',
    ['test/unit/console-names'],
    [
      [
        'a displayed name turns the text around it',
        "value.replace(CONTROLS, ' ').replace(INVISIBLE, '$1')",
        "value.replace(CONTROLS, ' ')",
      ],
      ['a displayed name shows nothing', String.raw`\p{Bidi_Control}\u2800`, String.raw`\p{Bidi_Control}`],
    ],
  ),
  ...faultsIn(
    'src/web/messages/isolate.ts',
    ['test/unit/console-names'],
    [['a displayed name ends its quotation', 'isolateName(replaceQuotationMarks(name))', 'isolateName(name)']],
  ),
  ...faultsIn(
    'src/messages/direction.ts',
    ['test/unit/console-names'],
    [['a displayed name is not isolated', 'text}\\u2069', 'text}']],
  ),
  ...faultsIn(
    'src/resources/webhooks/endpoints.service.ts',
    ['test/trpc/webhook-deputies'],
    [
      [
        'an endpoint is taken over by who may not see its events',
        '  requireVisible(held, types);\n  const account',
        '  const account',
      ],
      [
        'an endpoint is created for events that its creator may not see',
        '    requireVisible(held, types);\n    const teamId',
        '    const teamId',
      ],
      [
        'who changes the URL or types is not responsible',
        'if (url !== undefined || types !== undefined) takeOver',
        'if (types !== undefined) takeOver',
      ],
      ['who rotates the secret is not responsible', '    takeOver(endpoint, owner, held);\n', ''],
    ],
  ),
  ...faultsIn(
    'src/resources/webhooks/deliveries.service.ts',
    ['test/trpc/webhook-deputies'],
    [
      ['who may not see an event replays it', '    requireVisible(held, [delivery.event]);\n', ''],
      ['who may not see events replays them with others', 'canSee(held, type)', 'canSee(held, type) || true'],
    ],
  ),
  ...faultsIn(
    'src/db/predicates.ts',
    ['test/trpc/invitation-senders'],
    [
      ['an invitation outlives its sender’s ability to send it', ' and not ${hasLostSender(alias)}`', '`'],
      ['a disabled sender’s invitation stays', ' and a.disabled_at is null\n        and', '\n        and'],
      [
        'an invitation of a deleted sender is the operator’s',
        '(${alias}.invited_by_id is not null or ${alias}.is_sender_deleted)',
        '${alias}.invited_by_id is not null',
      ],
      ['a sender who cannot grant the role counts', ' and granted.permissions <@ own.permissions', ''],
    ],
  ),
  ...faultsIn(
    'src/resources/invitations/end-invitations.ts',
    ['test/trpc/invitation-senders'],
    [
      [
        'invitations of who lost the permission stay',
        'const [ended] = await change.run([[endAbandoned, [teamId]]]);',
        'const ended: { id: string }[] = endAbandoned === undefined ? [{ id: teamId }] : [];',
      ],
      ['invitations of a deleted sender stay', 'if (sent.length > 0) tx.later(', 'if (sent.length < 0) tx.later('],
    ],
  ),
  ...faultsIn(
    'src/resources/invitations/acceptance.service.ts',
    ['test/trpc/invitation-senders'],
    [
      [
        'keys of an expired membership come back with an invitation',
        '    await endAccess(tx, team.id, account.id);\n',
        '',
      ],
      [
        'invitations that ended with an expiry come back with the membership',
        '    await endAbandonedInvitations(tx, team.id);\n',
        '',
      ],
    ],
  ),
  ...faultsIn(
    'src/resources/operator-keys/operator-keys.service.ts',
    ['test/operator/keys'],
    [
      [
        'a key creates one that outlives it',
        'earlier(toEnd(wantedEnd, toNow(time)), calling?.expiresAt ?? null)',
        'toEnd(wantedEnd, toNow(time))',
      ],
      ['a key rotates one that outlives it', 'if (calling?.expiresAt && earlier', 'if (calling === null && earlier'],
      ['a key creates one with more scopes', 'if (beyond.length > 0)\n', 'if (beyond.length > 99)\n'],
    ],
  ),
  ...faultsIn(
    'src/resources/imports/upload-job.ts',
    ['test/operator/imports'],
    [
      [
        'the import of an expired key goes on',
        "if (key.isExpired) throw new KeyEndedError('key_expired');",
        'if (false) return;',
      ],
    ],
  ),
  ...faultsIn(
    'src/resources/imports/api-keys.ts',
    ['test/operator/imports'],
    [['a key of the account of an operator is imported', 'operators.has(accountId)', 'operators.has(line.toString())']],
  ),
  ...faultsIn(
    'src/turns.ts',
    ['test/unit/turns'],
    [
      [
        'an account takes all places',
        'count(this.#running, key) < this.#limits.perKey',
        'count(this.#running, key) < 100',
      ],
      ['a caller keeps its turn', 'this.#lanes.delete(lane);\n        this.#lanes.set(lane, waiters);', ''],
      ['a caller that has gone waits on', "caller?.over.addEventListener('abort', onGone)", 'undefined'],
    ],
  ),
  ...faultsIn(
    'src/db/lists/queue.ts',
    ['test/rest/fairness'],
    [['a list goes on without its client', 'cancelStatement(pool, client);', '']],
  ),
  ...faultsIn('clients/typescript/src/server/sessions.ts', KIT, [
    [
      'a product lets a session in that ended elsewhere',
      'const asked = askStore(',
      'return false;\n    const asked = askStore(',
    ],
    ['a store that is away locks all users out', '      report(error);\n      return false;', '      throw error;'],
    [
      'a product takes the tokens of another account',
      'if (renewed !== undefined && renewed.claims.sub !== claims.sub) throw',
      'if (renewed === null) throw',
    ],
    ['a stale session goes on after its token', '|| stored.expiresAt <= Date.now()) throw error', ') throw error'],
    [
      'an outage signs users out',
      '|| stored.expiresAt <= Date.now()) throw error;\n        report(error);',
      ') throw error;\n        if (stored.expiresAt <= Date.now()) return null;\n        report(error);',
    ],
    ['a tab brings back a session that another one has ended', 'if (signedOut.has(refreshToken)) return true;', ''],
    ['tokens that came late are lost', '    refreshes.set(stored.accessToken, entry);\n', ''],
  ]),
  ...faultsIn('clients/typescript/src/server/sign-in.ts', KIT, [
    [
      'another account proves for the user',
      'if (pending.account !== undefined && granted.claims.sub !== pending.account)',
      'if (pending.account === null)',
    ],
    ['an old proof counts as a new one', 'if (!isProven(pending, granted.claims))', 'if (pending === null)'],
    ['waiting sign-ins fill the headers', 'i < PENDING_MAX - 1 && room >= 0', 'i < PENDING_MAX - 1'],
  ]),
  ...faultsIn('clients/typescript/src/server/roster-auth.ts', KIT, [
    ['a sibling domain changes sessions', "site === 'same-origin'", "site !== 'cross-site'"],
    [
      'whoever signs in proves for a session that ended',
      'if (session === null) return redirect(`${path}/proved',
      'if (session?.id === "") return redirect(`${path}/proved',
    ],
    [
      'a permission is not required',
      'if (session.team.permissions.includes(permission)) return session;',
      'return session;',
    ],
    ['an operator that lets nobody in is ignored', 'if (verified.valid && (verified', 'if ((verified'],
  ]),
  ...faultsIn('clients/typescript/src/server/return-address.ts', KIT, [
    ['a sign-in returns to another site', 'url?.origin !== appUrl.origin || ', 'url === undefined || '],
    ['a sign-in returns to a URL inside of another', ' || url.protocol !== appUrl.protocol', ''],
    ['a sign-in returns to a path that is a host', "pathname.replace(/^\\/{2,}/, '/')", 'pathname'],
  ]),
  ...faultsIn('clients/typescript/src/server/forward.ts', KIT, [
    ['every procedure is forwarded', '!names.every((name) => APP_PROCEDURES.has(name))', 'names.length === 0'],
    [
      'a cookie of Roster comes through',
      "const RESPONSE_HEADERS = ['content-type',",
      "const RESPONSE_HEADERS = ['content-type', 'set-cookie',",
    ],
  ]),
  ...faultsIn('clients/typescript/src/server/answers.ts', KIT, [
    [
      'tokens are in what is logged',
      'return answerInvalid(error.message);',
      'return Object.assign(answerInvalid(error.message), { cause: error });',
    ],
    ['a second code is another sign-in', ' && others.length === 0', ''],
  ]),
  ...faultsIn('clients/typescript/src/server/logout-token.ts', KIT, [
    ['a logout token is replayed for ever', '      maxTokenAge: AGE_MAX,\n', ''],
    ['an id token ends a session', "      typ: 'logout+jwt',\n", ''],
    ['the token of another product ends a session', '      audience: clientId,\n', ''],
  ]),
  ...faultsIn('clients/typescript/src/server/reach.ts', KIT, [
    [
      'Roster is asked although it is away',
      'await ask(async () => {',
      'await (async (work: () => Promise<Response>) => work())(async () => {',
    ],
  ]),
];

/** Mutations that may survive, each with the reason. A survivor that is not listed is reported as a gap. */
export const KNOWN_SURVIVORS: Readonly<Record<string, string>> = {};
