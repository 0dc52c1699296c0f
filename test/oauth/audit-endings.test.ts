import { describe, expect } from 'vitest';
import { test, type Api } from '../support/api.ts';
import { signedIn } from '../support/browser.ts';
import type { AGrant } from '../support/factories.ts';
import { tokenTo } from '../trpc/people.ts';

const VERIFY = /^Verify your email address$/;

type Line = {
  readonly accountId: unknown;
  readonly clientId: unknown;
  readonly grantId: string;
  readonly teamId: unknown;
  readonly reason: unknown;
};

/** The lines about grants that end while something happens, in the order of the grants. */
async function revocations(api: Api, happens: () => Promise<unknown>): Promise<Line[]> {
  const before = api.lines.length;
  await happens();
  return api.lines
    .slice(before)
    .filter(({ audit }) => audit === 'oauth_grant.revoked')
    .map(({ accountId, clientId, grantId, teamId, reason }) => ({
      accountId,
      clientId,
      grantId: String(grantId),
      teamId,
      reason,
    }))
    .toSorted(byGrant);
}

const lineOf = (
  { id, clientId }: AGrant,
  account: { id: string },
  reason: string,
  team: { id: string } | null = null,
): Line => ({ accountId: account.id, clientId, grantId: id, teamId: team?.id ?? null, reason });

const byGrant = (a: Line, b: Line) => a.grantId.localeCompare(b.grantId);

describe('the log has a line for each grant that ends', () => {
  async function aMemberWithGrants(api: Api) {
    const [owner, member] = [await api.anAccount(), await api.anAccount()];
    const team = await api.aTeam({ owner });
    await api.aMember(team, member);
    const forTheTeam = await api.aGrant(member, { team });
    await api.aGrant(member);
    return { owner, member, team, forTheTeam };
  }

  test('with a removed member', async ({ api }) => {
    const { owner, member, team, forTheTeam } = await aMemberWithGrants(api);
    const asOwner = api.as(await api.anApiKey(owner, { scopes: ['members:write'] }));

    const lines = await revocations(api, () => asOwner.delete(`/api/v1/teams/${team.id}/members/${member.id}`));

    expect(lines).toEqual([lineOf(forTheTeam, member, 'membership ended', team)]);
  });

  test('with a member who leaves', async ({ api }) => {
    const { member, team, forTheTeam } = await aMemberWithGrants(api);
    const { trpc } = await signedIn(api, member);

    const lines = await revocations(api, () => trpc.teams.leave.mutate({ teamId: team.id }));

    expect(lines).toEqual([lineOf(forTheTeam, member, 'membership ended', team)]);
  });

  test('with a deleted team', async ({ api }) => {
    const { owner, member, team, forTheTeam } = await aMemberWithGrants(api);
    const ofTheOwner = await api.aGrant(owner, { team });
    const { trpc } = await signedIn(api, owner);

    const lines = await revocations(api, () => trpc.teams.delete.mutate({ teamId: team.id }));

    expect(lines).toEqual(
      [lineOf(forTheTeam, member, 'team deleted', team), lineOf(ofTheOwner, owner, 'team deleted', team)].toSorted(
        byGrant,
      ),
    );
  });

  test('with a deleted account, also those that others gave to its clients', async ({ api }) => {
    const [account, other] = [await api.anAccount(), await api.anAccount()];
    const client = await api.anOAuthClient({ owner: account });
    const own = await api.aGrant(account);
    const toItsClient = await api.aGrant(other, { client });
    const { trpc } = await signedIn(api, account);

    const lines = await revocations(api, () => trpc.account.delete.mutate());

    expect(lines).toEqual(
      [lineOf(own, account, 'account deleted'), lineOf(toItsClient, other, 'client deleted')].toSorted(byGrant),
    );
  });

  test('with a deleted client', async ({ api }) => {
    const [owner, other] = [await api.anAccount(), await api.anAccount()];
    const client = await api.anOAuthClient({ owner });
    const given = await api.aGrant(other, { client });
    const { trpc } = await signedIn(api, owner);

    const lines = await revocations(api, () => trpc.oauthClients.delete.mutate({ clientId: client.id }));

    expect(lines).toEqual([lineOf(given, other, 'client deleted')]);
  });

  test('with an account that the owner of its mailbox reclaims', async ({ api }) => {
    const account = await api.anAccount();
    await api.rows('update account set email_verified_at = null where id = $1', [account.id]);
    const prepared = await api.aGrant(account);
    const { trpc } = api.visitor();
    await trpc.auth.signUp.mutate({ email: account.email, password: 'correct horse battery' });
    const token = await tokenTo(api, account.email, VERIFY);

    const lines = await revocations(api, () => trpc.auth.verifyEmail.mutate({ token }));

    expect(lines).toEqual([lineOf(prepared, account, 'account reclaimed by its mailbox')]);
  });
});
