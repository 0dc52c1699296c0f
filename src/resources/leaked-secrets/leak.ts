import type { Database } from '../../db/database.ts';
import type { LeakSource } from '../../email/notices.ts';

/** A secret that someone else holds. `foundAt` is the URL where it was found. */
export type LeakReport = { readonly secret: string; readonly leak: LeakSource; readonly foundAt: string | null };

/** A report without its secret. */
export type Leak = Omit<LeakReport, 'secret'> & { readonly hash: Buffer };

/** Revokes what the secrets belong to. @returns the hashes, in hex, of those that are known */
export type RevokeLeaks = (db: Database, leaks: readonly Leak[]) => Promise<ReadonlySet<string>>;

/** The reasons in the events of revocations. */
export const REASONS: Readonly<Record<LeakSource, string>> = {
  github: 'leaked, reported by GitHub',
  holder: 'leaked, reported by a holder of the secret',
};
