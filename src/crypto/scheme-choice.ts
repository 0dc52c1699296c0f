import { createHmac } from 'node:crypto';
import type { Encryption } from './encryption.ts';

/** How many accounts have a password of a scheme. */
export type SchemeShare = { readonly scheme: string; readonly accounts: number };

const PURPOSE = 'schemes of unknown addresses';
const BITS = 48;

/**
 * Returns the scheme of which a sign-in computes a hash if the account of the address has no password, or does not exist:
 * the same one at each attempt, and over many addresses in the shares in which schemes are stored. The time of sign-ins
 * is then distributed alike at known and unknown addresses.
 *
 * Each scheme draws a number, and the smallest for its number of accounts is chosen (weighted rendezvous hashing). So an
 * address keeps its scheme until that loses accounts or another one gets some, as those of accounts do.
 */
export function chooseScheme(
  encryption: Encryption,
  email: string,
  shares: readonly SchemeShare[],
): string | undefined {
  const [key] = encryption.keysFor(PURPOSE);
  if (key === undefined) return undefined;
  let chosen: { scheme: string; draw: number } | undefined;
  for (const { scheme, accounts } of shares) {
    const digest = createHmac('sha256', key).update(`${scheme} ${email.toLowerCase()}`).digest();
    const uniform = (digest.readUIntBE(0, BITS / 8) + 1) / (2 ** BITS + 1);
    const draw = -Math.log(uniform) / accounts;
    if (chosen === undefined || draw < chosen.draw) chosen = { scheme, draw };
  }
  return chosen?.scheme;
}
