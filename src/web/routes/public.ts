import { createRoute } from '@tanstack/react-router';
import { lazyPage } from './lazy-page.ts';
import { publicPages } from './layouts.tsx';
import { text, withToken } from './search.ts';

const signIn = createRoute({
  getParentRoute: () => publicPages,
  path: '/sign-in',
  validateSearch: ({ next, ended }: Record<string, unknown>): { next?: string; ended?: 'true' } => ({
    ...(text(next) !== undefined && { next: String(next) }),
    ...(ended === 'true' && { ended }),
  }),
  component: lazyPage(() => import('../pages/sign-in.tsx'), 'SignIn'),
});

const signUp = createRoute({
  getParentRoute: () => publicPages,
  path: '/sign-up',
  validateSearch: ({ invitation }: Record<string, unknown>): { invitation?: string } =>
    text(invitation) === undefined ? {} : { invitation: String(invitation) },
  component: lazyPage(() => import('../pages/sign-up.tsx'), 'SignUp'),
});

const forgotPassword = createRoute({
  getParentRoute: () => publicPages,
  path: '/forgot-password',
  component: lazyPage(() => import('../pages/forgot-password.tsx'), 'ForgotPassword'),
});

const resetPassword = createRoute({
  getParentRoute: () => publicPages,
  path: '/reset-password',
  validateSearch: withToken,
  component: lazyPage(() => import('../pages/reset-password.tsx'), 'ResetPassword'),
});

const verifyEmail = createRoute({
  getParentRoute: () => publicPages,
  path: '/verify-email',
  validateSearch: withToken,
  component: lazyPage(() => import('../pages/verify-email.tsx'), 'VerifyEmail'),
});

const emailSignIn = createRoute({
  getParentRoute: () => publicPages,
  path: '/email-sign-in',
  component: lazyPage(() => import('../pages/email-sign-in.tsx'), 'EmailSignIn'),
});

const signInLink = createRoute({
  getParentRoute: () => publicPages,
  path: '/sign-in-link',
  validateSearch: withToken,
  component: lazyPage(() => import('../pages/sign-in-link.tsx'), 'SignInLink'),
});

const checkEmail = createRoute({
  getParentRoute: () => publicPages,
  path: '/check-email',
  component: lazyPage(() => import('../pages/check-email.tsx'), 'CheckEmail'),
});

const confirmEmail = createRoute({
  getParentRoute: () => publicPages,
  path: '/confirm-email',
  validateSearch: withToken,
  component: lazyPage(() => import('../pages/confirm-email.tsx'), 'ConfirmEmail'),
});

const invitation = createRoute({
  getParentRoute: () => publicPages,
  path: '/invitation',
  validateSearch: withToken,
  component: lazyPage(() => import('../pages/invitation.tsx'), 'InvitationPage'),
});

export const publicRoutes = publicPages.addChildren([
  signIn,
  signUp,
  forgotPassword,
  resetPassword,
  verifyEmail,
  emailSignIn,
  signInLink,
  checkEmail,
  confirmEmail,
  invitation,
]);
