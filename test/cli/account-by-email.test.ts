import { expect } from 'vitest';
import { requireAccountByEmail } from '../../src/cli/operate.ts';
import { test } from '../support/api.ts';

// Guarantees that an address or external id that was copied with white space around it names its account.
test('commands find an account by its trimmed address or external id', async ({ api }) => {
  const { id, email } = await api.anAccount();
  await api.rows(`update account set external_id = 'customer 7' where id = $1`, [id]);

  for (const given of [email, ` ${email}`, `${email}\n`, `\t${email.toUpperCase()} `, ' ext:customer 7 '])
    expect(await requireAccountByEmail(api.services, given)).toMatchObject({ id });
  await expect(requireAccountByEmail(api.services, ' nobody@example.com ')).rejects.toThrow(
    '--email: no account has the email address nobody@example.com',
  );
});
