import type { Page } from 'playwright-core';

/** An authenticator for the page, as Chromium plays one; whoever touches it is verified. */
export async function plugIn(page: Page) {
  const devtools = await page.context().newCDPSession(page);
  await devtools.send('WebAuthn.enable');
  const { authenticatorId } = await devtools.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
  const credentials = async () => (await devtools.send('WebAuthn.getCredentials', { authenticatorId })).credentials;

  return {
    credentials,
    verify: (isUserVerified: boolean) => devtools.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified }),
    /** Takes over what another one holds, as a passkey that is synchronized, or copied. */
    async hold(copied: Awaited<ReturnType<typeof credentials>>, changes: { signCount?: number } = {}) {
      for (const credential of copied) {
        await devtools.send('WebAuthn.addCredential', { authenticatorId, credential: { ...credential, ...changes } });
      }
    },
  };
}
