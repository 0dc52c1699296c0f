import { TRPCClientError } from '@trpc/client';
import { texts } from './messages/console.ts';
import { trpc, type Outputs } from './trpc.ts';

// Loaded when it is needed: most sign-ins go without.
const webauthn = () => import('@simplewebauthn/browser');

export const supportsPasskeys = (): boolean => typeof PublicKeyCredential === 'function';

/** What to say of a failure that is the browser's and not the service's. */
export function passkeyTrouble(error: unknown, cancelled: 'notUsed' | 'notMade'): string | undefined {
  if (!(error instanceof Error) || error instanceof TRPCClientError) return undefined;
  // Somebody closed the dialog, or there is no passkey: browsers do not tell which.
  if (error.name === 'NotAllowedError' || error.name === 'AbortError') return texts.passkeyTrouble[cancelled];
  return error.name === 'InvalidStateError' ? texts.passkeyTrouble.registered : texts.passkeyTrouble.failed;
}

export async function signInWithPasskey(): Promise<void> {
  const { startAuthentication } = await webauthn();
  const response = await startAuthentication({ optionsJSON: await trpc.passkeys.signInOptions.mutate() });
  await trpc.passkeys.signIn.mutate({ response });
}

/** Confirms with a passkey who uses this session. */
export async function proveWithPasskey(): Promise<void> {
  const { startAuthentication } = await webauthn();
  const response = await startAuthentication({ optionsJSON: await trpc.passkeys.proofOptions.mutate() });
  await trpc.passkeys.prove.mutate({ response });
}

/**
 * Offers the passkeys there are among the suggestions for the address, where the browser can.
 * @returns ends the offer: a browser asks for one passkey at a time, and a late offer would end what came after it
 */
export function offerPasskeys(onSignedIn: () => void): () => void {
  let left = false;
  let cancel: (() => void) | undefined;
  const offer = async () => {
    if (!supportsPasskeys() || !(await PublicKeyCredential.isConditionalMediationAvailable?.())) return;
    const { startAuthentication, WebAuthnAbortService } = await webauthn();
    const optionsJSON = await trpc.passkeys.signInOptions.mutate();
    if (left) return;
    cancel = () => WebAuthnAbortService.cancelCeremony();
    const response = await startAuthentication({ optionsJSON, useBrowserAutofill: true });
    await trpc.passkeys.signIn.mutate({ response });
    onSignedIn();
  };
  // Only an offer: the button says what went wrong.
  offer().catch(() => undefined);
  return () => {
    left = true;
    cancel?.();
  };
}

export async function addPasskey(name: string): Promise<Outputs['passkeys']['register']> {
  const { startRegistration } = await webauthn();
  const response = await startRegistration({ optionsJSON: await trpc.passkeys.registrationOptions.mutate() });
  return trpc.passkeys.register.mutate({ name, response });
}
