import type { Database } from '../../db/database.ts';
import type { Principal } from '../../auth/principal.ts';
import { verifyPassword } from '../../crypto/password-hash.ts';
import { ProblemError } from '../../problems/error.ts';
import type { AuthenticatingBrowser } from '../../procedures/browser-client.ts';
import { addProof } from '../sessions/sessions.service.ts';
import { readPasswordHash } from './accounts.queries.ts';
import { countAttempt } from '../../rate-limit/attempts.ts';

/** Re-authenticates the user of a session by password. Wrong passwords are counted per session. @throws password_wrong */
export async function proveByPassword(
  db: Database,
  browserClient: AuthenticatingBrowser,
  principal: Principal,
  password: string,
): Promise<void> {
  const counted = await countAttempt(browserClient, { kind: 'proof', sessionId: principal.credentialId });
  const passwordHash = await readPasswordHash(db, principal.accountId);
  if (!(await verifyPassword(password, passwordHash)) || passwordHash === null) {
    throw new ProblemError('password_wrong');
  }
  await counted.refund();
  await addProof(db, browserClient, principal, 'password');
}
