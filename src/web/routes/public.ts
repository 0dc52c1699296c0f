import { createRoute } from '@tanstack/react-router';
import { lazyPage } from './lazy-page.ts';
import { publicPages } from './layouts.tsx';
import { onlyTexts, text, withToken } from './search.ts';

const signIn = createRoute({
  getParentRoute: () => publicPages,
  path: '/sign-in',
  staticData: { access: 'anyone' },
  validateSearch: ({ next, ended }: Record<string, unknown>): { next?: string; ended?: 'true' } => ({
    ...(text(next) !== undefined && { next: String(next) }),
    ...(ended === 'true' && { ended }),
  }),
  component: lazyPage(() => import('../pages/sign-in.tsx'), 'SignIn'),
});

const signUp = createRoute({
  getParentRoute: () => publicPages,
  path: '/sign-up',
  staticData: { access: 'anyone' },
  validateSearch: onlyTexts('invitation', 'next'),
  component: lazyPage(() => import('../pages/sign-up.tsx'), 'SignUp'),
});

const forgotPassword = createRoute({
  getParentRoute: () => publicPages,
  path: '/forgot-password',
  staticData: { access: 'anyone' },
  validateSearch: onlyTexts('next'),
  component: lazyPage(() => import('../pages/forgot-password.tsx'), 'ForgotPassword'),
});

const resetPassword = createRoute({
  getParentRoute: () => publicPages,
  path: '/reset-password',
  staticData: { access: 'anyone' },
  validateSearch: withToken,
  component: lazyPage(() => import('../pages/reset-password.tsx'), 'ResetPassword'),
});

const verifyEmail = createRoute({
  getParentRoute: () => publicPages,
  path: '/verify-email',
  staticData: { access: 'anyone' },
  validateSearch: withToken,
  component: lazyPage(() => import('../pages/verify-email.tsx'), 'VerifyEmail'),
});

const emailSignIn = createRoute({
  getParentRoute: () => publicPages,
  path: '/email-sign-in',
  staticData: { access: 'anyone' },
  validateSearch: onlyTexts('next'),
  component: lazyPage(() => import('../pages/email-sign-in.tsx'), 'EmailSignIn'),
});

const signInLink = createRoute({
  getParentRoute: () => publicPages,
  path: '/sign-in-link',
  staticData: { access: 'anyone' },
  validateSearch: withToken,
  component: lazyPage(() => import('../pages/sign-in-link.tsx'), 'SignInLink'),
});

const checkEmail = createRoute({
  getParentRoute: () => publicPages,
  path: '/check-email',
  staticData: { access: 'anyone' },
  component: lazyPage(() => import('../pages/check-email.tsx'), 'CheckEmail'),
});

const confirmEmail = createRoute({
  getParentRoute: () => publicPages,
  path: '/confirm-email',
  staticData: { access: 'anyone' },
  validateSearch: withToken,
  component: lazyPage(() => import('../pages/confirm-email.tsx'), 'ConfirmEmail'),
});

const invitation = createRoute({
  getParentRoute: () => publicPages,
  path: '/invitation',
  staticData: { access: 'anyone' },
  validateSearch: withToken,
  component: lazyPage(() => import('../pages/invitation.tsx'), 'InvitationPage'),
});

const signOut = createRoute({
  getParentRoute: () => publicPages,
  path: '/sign-out',
  staticData: { access: 'anyone' },
  validateSearch: onlyTexts('client_id', 'post_logout_redirect_uri', 'state'),
  component: lazyPage(() => import('../pages/sign-out.tsx'), 'SignOut'),
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
  signOut,
]);
