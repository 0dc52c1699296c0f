import { TRPCClientError } from '@trpc/client';
import { texts } from './messages/console.ts';
import { trpc, type Outputs } from './trpc.ts';

// Loaded on demand, because most sign-ins do not use it.
const webauthn = () => import('@simplewebauthn/browser');

export const supportsPasskeys = (): boolean => typeof PublicKeyCredential === 'function';

/** Returns the text for an error of the browser, or undefined for one of the service. */
export function passkeyErrorText(error: unknown, cancelled: 'notUsed' | 'notCreated'): string | undefined {
  if (!(error instanceof Error) || error instanceof TRPCClientError) return undefined;
  // The user closed the dialog, or has no passkey: browsers do not reveal which.
  if (error.name === 'NotAllowedError' || error.name === 'AbortError') return texts.passkeyErrors[cancelled];
  return error.name === 'InvalidStateError' ? texts.passkeyErrors.registered : texts.passkeyErrors.failed;
}

export async function signInWithPasskey(): Promise<void> {
  const { startAuthentication } = await webauthn();
  const response = await startAuthentication({ optionsJSON: await trpc.passkeys.signInOptions.mutate() });
  await trpc.passkeys.signIn.mutate({ response });
}

/** Re-authenticates the user of this session with a passkey. */
export async function proveWithPasskey(): Promise<void> {
  const { startAuthentication } = await webauthn();
  const response = await startAuthentication({ optionsJSON: await trpc.passkeys.proofOptions.mutate() });
  await trpc.passkeys.prove.mutate({ response });
}

/**
 * Offers passkeys in the autofill of the email field, if the browser supports it.
 * @returns a function that ends the offer, because a browser runs one passkey request at a time
 */
export function offerPasskeys(onSignedIn: () => void): () => void {
  let isEnded = false;
  let cancel: (() => void) | undefined;
  const offer = async () => {
    if (!supportsPasskeys() || !(await PublicKeyCredential.isConditionalMediationAvailable?.())) return;
    const { startAuthentication, WebAuthnAbortService } = await webauthn();
    const optionsJSON = await trpc.passkeys.signInOptions.mutate();
    if (isEnded) return;
    cancel = () => WebAuthnAbortService.cancelCeremony();
    const response = await startAuthentication({ optionsJSON, useBrowserAutofill: true });
    await trpc.passkeys.signIn.mutate({ response });
    onSignedIn();
  };
  // Errors are shown by the passkey button only.
  offer().catch(() => undefined);
  return () => {
    isEnded = true;
    cancel?.();
  };
}

export async function addPasskey(name: string): Promise<Outputs['passkeys']['register']> {
  const { startRegistration } = await webauthn();
  const response = await startRegistration({ optionsJSON: await trpc.passkeys.registrationOptions.mutate() });
  return trpc.passkeys.register.mutate({ name, response });
}
