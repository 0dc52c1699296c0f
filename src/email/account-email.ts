import type { LeakSource, Notice } from './notices.ts';

type Link = { readonly token: string; readonly expiresAt: Date };

/** `foundAt` is the URL where GitHub found the secret. */
export type Leak = { readonly leak: LeakSource; readonly foundAt: string | null };

/** The content of an email about an account. */
export type AccountEmail =
  | ({ readonly kind: 'verify_email' | 'change_email' | 'reset_password' | 'sign_in' } & Link)
  | { readonly kind: 'already_registered' }
  | Notice
  | {
      readonly kind: 'webhook_disabled';
      readonly url: string;
      readonly reason: string;
      readonly isOfInstallation?: boolean;
    }
  | {
      readonly kind: 'unused_keys';
      /** `endsAt` is in ISO 8601. */
      readonly keys: readonly Readonly<Record<'name' | 'keyPrefix' | 'last4' | 'endsAt', string>>[];
      /** All of them, of which `keys` can be the first. */
      readonly number: number;
    }
  | ({
      readonly kind: 'leaked_key_revoked';
      readonly keyName: string;
      readonly keyPrefix: string;
      readonly last4: string;
      readonly teamName: string | null;
    } & Leak)
  | ({ readonly kind: 'leaked_token_revoked'; readonly clientName: string } & Leak)
  | {
      readonly kind: 'new_device';
      readonly browser: string | null;
      readonly os: string | null;
      readonly country: string | null;
      readonly city: string | null;
      readonly at: Date;
    }
  | {
      readonly kind: 'ownership_offered';
      readonly teamName: string;
      readonly ownerName: string | null;
      readonly expiresAt: Date;
    };
