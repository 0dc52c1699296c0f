import type { Change } from '../transactions/steps.ts';
import { randomBytes } from 'node:crypto';
import { Invitation, Role, SCOPES, type Account } from '../entities/index.ts';
import { isAccountOnly } from '../auth/scopes.ts';
import { proveAll } from '../auth/session-proofs.ts';
import type { Tokens } from '../crypto/tokens.ts';
import { createAccount } from '../resources/accounts/accounts.service.ts';
import { presentApiKey } from '../resources/api-keys/api-keys.schema.ts';
import { createApiKeyFor, type NewApiKey } from '../resources/api-keys/creation.service.ts';
import { createSession } from '../resources/sessions/start-session.ts';
import { setSubscription } from '../resources/billing/billing.service.ts';
import { addMember } from '../resources/members/members.service.ts';
import { createRole } from '../resources/roles/roles.service.ts';
import { createTeam } from '../resources/teams/teams.service.ts';
import type { Services } from '../service/services.ts';
import { change } from '../transactions/change.ts';
import { HOUR_MS, addDays } from '../time.ts';

const BY_US = { caller: 'system' } as const;

export type SeededDemo = Awaited<ReturnType<typeof seedDemo>>;

/**
 * Adds demo data in one transaction: an account per role and an operator, all with the same generated password, two teams,
 * invitations, sessions, keys and a subscription.
 * @throws if one of the email addresses already has an account
 */
export async function seedDemo({ db, tokens, config }: Services) {
  const password = randomBytes(9).toString('base64url');
  return change(db, 'system', { on: 'installation', requires: 'nothing' }, async (scope) => {
    const createPerson = (email: string, firstName: string, lastName: string, role?: 'admin') =>
      createAccount(scope, 'system', config, { email, firstName, lastName, password, role, isEmailVerified: true });
    const owner = await createPerson('owner@example.com', 'Olivia', 'Hart');
    const member = await createPerson('member@example.com', 'Marco', 'Lindt');
    const guest = await createPerson('guest@example.com', 'Grace', 'Okafor');
    const recruiter = await createPerson('recruiter@example.com', 'Ravi', 'Menon');
    const operator = await createPerson('operator@example.com', 'Oskar', 'Lang', 'admin');

    const harbor = (
      await createTeam(scope, BY_US, owner.id, {
        name: 'Harbor Lights',
        description: 'The larger demo team, on the plan pro.',
      })
    ).team;
    const kites = (
      await createTeam(scope, BY_US, member.id, {
        name: 'Kite Works',
        description: 'The smaller demo team, on the plan free.',
      })
    ).team;
    const role = await createRole(scope, 'system', harbor.id, {
      name: 'Recruiter',
      permissions: ['access_dashboard', 'invite_members'],
    });
    await addMember(scope, 'system', harbor.id, member.id, { roleId: 'member' });
    await addMember(scope, 'system', harbor.id, guest.id, { roleId: 'guest' });
    await addMember(scope, 'system', harbor.id, recruiter.id, { roleId: role.id });
    await addMember(scope, 'system', kites.id, owner.id, { roleId: 'member' });

    // No emails are queued: with a real SMTP server, emails to fictitious addresses would bounce.
    const expiresAt = addDays(new Date(), config.invitationDays);
    const invite = (teamId: string, email: string, roleId: string, invitedBy: Account) => {
      const role = scope.em.getReference(Role, roleId);
      const { id: invitationId } = scope.em.create(Invitation, { team: teamId, email, role, invitedBy, expiresAt });
      scope.record('invitation.created', { teamId, invitationId });
    };
    invite(harbor.id, 'ines@example.com', 'member', owner);
    invite(harbor.id, 'jonas@example.com', role.id, recruiter);
    invite(kites.id, 'kim@example.com', 'guest', member);

    await setSubscription(scope, 'system', config.plans, harbor.id, {
      // Custom plans may lack this one.
      planId: config.plans.has('pro') ? 'pro' : 'free',
      status: 'active',
      interval: 'month',
      addons: { seats: 3 },
      planExpiresAt: addDays(new Date(), 30),
    });
    addSessions(scope, tokens, owner);

    const key = async (input: NewApiKey) => {
      const created = await createApiKeyFor({ db: scope, tokens }, 'system', owner.id, input);
      return { key: presentApiKey(created.key), secret: created.secret };
    };
    const keys = {
      personal: await key({ name: 'Demo: all scopes', scopes: SCOPES, expiresAt: null }),
      readOnly: await key({
        name: 'Demo: read only',
        scopes: SCOPES.filter((scope) => scope.endsWith(':read')),
        expiresAt: null,
      }),
      team: await key({
        name: 'Demo: one team',
        scopes: SCOPES.filter((scope) => !isAccountOnly(scope)),
        teamId: harbor.id,
        expiresAt: null,
      }),
    };
    return {
      accounts: [
        { id: owner.id, email: 'owner@example.com', role: 'Owner' },
        { id: member.id, email: 'member@example.com', role: 'Member' },
        { id: guest.id, email: 'guest@example.com', role: 'Guest' },
        { id: recruiter.id, email: 'recruiter@example.com', role: 'Recruiter' },
        { id: operator.id, email: 'operator@example.com', role: 'Operator' },
      ],
      password,
      teams: [harbor, kites],
      keys,
    };
  });
}

// Their tokens are discarded; the sessions only serve listMySessions and revokeMySession.
function addSessions(tx: Change, tokens: Tokens, account: Account): void {
  const devices = [
    { hoursAgo: 1, country: 'DE', city: 'Hamburg', browser: 'Firefox', os: 'Linux', deviceType: 'desktop' },
    { hoursAgo: 26, country: 'DE', city: 'Hamburg', browser: 'Safari', os: 'iOS', deviceType: 'mobile' },
    { hoursAgo: 100, country: 'PT', city: 'Lisbon', browser: 'Chrome', os: 'Windows', deviceType: 'desktop' },
  ];
  for (const { hoursAgo, ...device } of devices) {
    const createdAt = new Date(Date.now() - hoursAgo * HOUR_MS);
    createSession(tx, tokens, {
      account,
      authenticationType: 'password',
      proofs: proveAll(['password'], createdAt),
      ...device,
      createdAt,
      expiresAt: addDays(createdAt, 30),
      idleExpiresAt: addDays(createdAt, 14),
    });
  }
}
