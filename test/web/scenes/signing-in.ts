import { signedIn } from '../../support/browser.ts';
import { linkIn, signInAs } from '../console.ts';
import { shown, type Scene } from './scene.ts';

/** What is seen by those who are not signed in. */
export const signingIn: readonly Scene[] = [
  ['sign-in', async (_api, open) => shown(await open('/sign-in'), 'Sign in')],
  [
    'sign-in-refused',
    async (_api, open) => {
      const page = await open('/sign-in');
      await signInAs(page, 'nobody@example.com', 'wrong password');
      await page.getByRole('alert').waitFor();
      return page;
    },
  ],
  ['sign-up', async (_api, open) => shown(await open('/sign-up'), 'Create your account')],
  [
    'sign-up-faults',
    async (_api, open) => {
      const page = await shown(await open('/sign-up'), 'Create your account');
      await page.getByRole('button', { name: 'Create account' }).click();
      await page.getByText('Use at least 8 characters.').waitFor();
      return page;
    },
  ],
  [
    'verify-email',
    async (api, open) => {
      const email = `new-${crypto.randomUUID()}@example.com`;
      await api.visitor().trpc.auth.signUp.mutate({ email, password: 'a password 42' });
      const page = await shown(await open(linkIn(await api.mailTo(email, /verify/i))), 'Verify your email address');
      await page.getByRole('button', { name: 'I don’t know this password' }).waitFor();
      return page;
    },
  ],
  [
    'verify-email-moved',
    async (api, open) => {
      const [account, email] = [await api.anAccount(), `new-${crypto.randomUUID()}@example.com`];
      const operator = api.as(await api.anOperatorKey());
      await operator.patch(`/operator/v1/accounts/${account.id}`, { email });
      const page = await shown(await open(linkIn(await api.mailTo(email, /verify/i))), 'Verify your email address');
      await page.getByRole('button', { name: 'This is not my account' }).waitFor();
      return page;
    },
  ],
  ['email-sign-in', async (_api, open) => shown(await open('/email-sign-in'), 'Sign in by email')],
  [
    'verify-email-refused',
    async (_api, open) => {
      const page = await open('/verify-email?token=none');
      await page.getByRole('alert').waitFor();
      return page;
    },
  ],
  ['incomplete-link', async (_api, open) => shown(await open('/verify-email'), 'Link incomplete')],
  ['forgot-password', async (_api, open) => shown(await open('/forgot-password'), 'Reset your password')],
  [
    'reset-password',
    async (api, open) => {
      const { email } = await api.anAccount();
      await api.visitor().trpc.auth.forgotPassword.mutate({ email });
      const page = await shown(await open(linkIn(await api.mailTo(email, /reset/i))), 'Choose a new password');
      await page.getByLabel('New password').waitFor();
      return page;
    },
  ],
  [
    'reset-password-refused',
    async (_api, open) => {
      const page = await open('/reset-password?token=none');
      await page.getByRole('alert').waitFor();
      return page;
    },
  ],
  [
    'confirm-email',
    async (api, open) => {
      const email = `new-${crypto.randomUUID()}@example.com`;
      const visitor = await signedIn(api, await api.anAccount());
      await visitor.trpc.account.changeEmail.mutate({ newEmail: email });
      const page = await shown(await open(linkIn(await api.mailTo(email))), 'Confirm your new email address');
      await page.getByRole('button', { name: 'Confirm email' }).waitFor();
      return page;
    },
  ],
  ['no-such-page', async (_api, open) => shown(await open('/no-such-page'), 'Page not found')],
];
