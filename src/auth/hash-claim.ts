import { currentCaller } from '../db/turns/request-caller.ts';
import { addressBucket, siteBucket } from '../rate-limit/address-bucket.ts';
import { BACKGROUND, type Claim } from '../turns.ts';

/** Says for whom a password is checked: for a client address, because nobody has an account yet, or for a job. */
export function claimHash(): Claim {
  const caller = currentCaller();
  const keys =
    caller === undefined ? [BACKGROUND] : [...new Set([siteBucket(caller.address), addressBucket(caller.address)])];
  return { keys, caller };
}
