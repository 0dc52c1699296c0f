import type { Change } from '../../transactions/steps.ts';
import type { Services } from '../../service/services.ts';
import { hashSecret } from '../../crypto/tokens.ts';
import { runAsStored, storedActor } from '../../events/actor.ts';
import { enqueue, requestedLinkKey, type Jobs } from '../../jobs/enqueue.ts';
import { REQUESTED_LINK_SECONDS, toLanguageHint } from '../../jobs/email-context.ts';
import type { TaskList } from '../../jobs/worker.ts';
import type { BrowserClient } from '../../procedures/browser-client.ts';
import { keepForLink } from '../oauth-consent/continuation.ts';
import { lockAccountByEmail } from '../../transactions/email-address.ts';
import { change } from '../../transactions/change.ts';
import { consumeMailAttempt, enqueueLink } from './email-link.ts';
import { createAttempt, emailAttempt, findAttemptOfBrowser } from './sign-up-attempts.ts';

type Request = Omit<Jobs['sendRequestedLink'], 'actor' | 'language' | 'sealedEmail'> & { readonly email: string };

/**
 * Queues a request for an emailed link, in the same way for every address. Only the job looks whether the address has an
 * account, and it starts when the response has been sent, so that neither the response nor its time, nor that of other
 * calls in a batch or beside it, reveals that.
 */
export async function enqueueRequest(
  tx: Change,
  { encryption }: Pick<Services, 'encryption'>,
  { language }: Pick<BrowserClient, 'language'>,
  { email, ...request }: Request,
): Promise<void> {
  const sealedEmail = encryption.encrypt(email);
  const payload = { ...request, sealedEmail, actor: storedActor(), ...toLanguageHint(language) };
  const key = requestedLinkKey(request.kind, email, request.attemptId ?? request.browserHash);
  await enqueue(tx, 'sendRequestedLink', payload, key, REQUESTED_LINK_SECONDS);
}

/**
 * Has a link emailed to the owner of an address, if it has an account that can use it: to sign in, to reset the password,
 * or to verify the address, also for the sign-up of this browser. Earlier links stay valid, so that an attacker cannot
 * invalidate them by requesting more. A waiting request of an application continues with the link.
 */
export async function requestLink(
  services: Services,
  browserClient: BrowserClient,
  { email, authorizationId: id }: { readonly email: string; readonly authorizationId?: string | undefined },
  kind: Request['kind'],
): Promise<void> {
  await consumeMailAttempt(services, browserClient, email);
  const { deviceToken } = browserClient;
  const ofBrowser = kind === 'verify_email' && deviceToken !== undefined;
  const request = {
    kind,
    email,
    ...(ofBrowser && { browserHash: hashSecret(deviceToken).toString('hex') }),
  };
  await change(services.db, 'visitor', { on: 'installation', requires: 'nothing' }, async (tx) => {
    const clientId = await keepForLink(tx, browserClient, id);
    await enqueueRequest(tx, services, browserClient, { ...request, ...(clientId !== null && { clientId }) });
  });
}

/** Emails the link of a request, if its address has a use for it. */
function sendRequestedLink(services: Services, request: Jobs['sendRequestedLink']): Promise<void> {
  const email = services.encryption.decrypt(request.sealedEmail);
  return runAsStored(request.actor, services.audit, () =>
    change(services.db, 'system', { on: { email }, requires: 'nothing' }, async (tx) => {
      const { kind, attemptId, clientId } = request;
      const language = request.language ?? null;
      if (attemptId !== undefined) {
        await emailAttempt(tx, services, attemptId, language);
        return;
      }
      if (kind === 'verify_email' && (await repeatSignUp(tx, services, { ...request, email }))) return;
      const account = await lockAccountByEmail(tx, email);
      if (!account?.email || account.disabledAt) return;
      if (kind === 'verify_email' && account.emailVerifiedAt) return;
      await enqueueLink(tx, services, account, kind, account.email, {
        language,
        ...(clientId !== undefined && { clientId }),
      });
    }),
  );
}

/** Emails a new link for the sign-up of the browser. Earlier links stay valid. @returns whether there is a sign-up */
async function repeatSignUp(
  tx: Change,
  services: Services,
  { email, browserHash, clientId, language }: Request & Pick<Jobs['sendRequestedLink'], 'language'>,
): Promise<boolean> {
  const attempt = await findAttemptOfBrowser(tx, email, browserHash);
  if (attempt === null) return false;
  const { accountId, passwordHash, firstName = null, lastName = null } = attempt;
  const copied = {
    accountId,
    email: attempt.email,
    passwordHash,
    firstName,
    lastName,
    browserHash: attempt.browserHash,
    clientId: clientId ?? attempt.clientId ?? null,
  };
  const created = await createAttempt(tx, services, copied);
  if (created !== null) await emailAttempt(tx, services, created.id, language ?? null);
  return true;
}

/** The task of requested links, for the worker. */
export const requestedLinkTasks = (services: Services): TaskList => ({
  sendRequestedLink: (data) => sendRequestedLink(services, data as Jobs['sendRequestedLink']), // what `enqueue` wrote
});
