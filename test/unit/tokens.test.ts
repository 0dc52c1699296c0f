import { expect, test } from 'vitest';
import { createTokens } from '../../src/crypto/tokens.ts';

// Guarantees that random bytes are used once, also where the pool of them is filled again.
test('secrets differ, and every place has every digit', () => {
  const tokens = createTokens('rst');
  const secrets = Array.from({ length: 2000 }, () => tokens.generate('invitation').secret.slice('rst_inv_'.length));

  expect(new Set(secrets).size).toBe(secrets.length);
  expect(new Set(secrets.flatMap((secret) => [secret.slice(0, 20), secret.slice(20, 40)])).size).toBe(4000);
  for (let place = 0; place < 43; place += 1) expect(new Set(secrets.map((secret) => secret[place])).size).toBe(62);
});
