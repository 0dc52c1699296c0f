import { readForeignHash } from '../../crypto/foreign-hash.ts';
import { newId } from '../../entities/index.ts';
import { findIds, insertRows, newOutcome, refuse, type Batch, type Numbered, type Outcome } from './batch.ts';

const COLUMNS = `id, external_id, email, first_name, last_name, role, avatar, preferred_locale, email_verified_at,
  password_hash, created_by, disabled_at, created_at, updated_at`;

/** Imports accounts as the operator creates them: they can be used before their email address is verified. */
export async function importAccounts(batch: Batch, rows: readonly Numbered<'account'>[]): Promise<Outcome> {
  const { tx, dryRun } = batch;
  const outcome = newOutcome();
  const known = new Set(
    (
      await findIds(
        tx,
        'account',
        rows.map(({ row }) => row.externalId),
      )
    ).keys(),
  );
  const emails = await findEmails(
    batch,
    rows.map(({ row }) => row.email.toLowerCase()),
  );
  const accepted = rows.filter(({ line, row: { externalId, email } }) => {
    if (known.has(externalId) || dryRun?.account.has(externalId) === true) outcome.existing += 1;
    else if (emails.has(email.toLowerCase()) || dryRun?.email.has(email.toLowerCase()) === true)
      refuse(outcome, line, 'email_taken', 'Another account has the email address.');
    else {
      known.add(externalId);
      emails.add(email.toLowerCase());
      return true;
    }
    return false;
  });
  outcome.created = accepted.length;
  for (const { row } of dryRun === null ? [] : accepted) {
    dryRun?.account.add(row.externalId);
    dryRun?.email.add(row.email.toLowerCase());
  }
  if (dryRun === null) {
    await insertRows(tx, 'account', COLUMNS, accepted.map(toColumns));
    await noteSchemes(batch, accepted);
  }
  return outcome;
}

function toColumns({ row }: Numbered<'account'>) {
  const now = new Date().toISOString();
  const createdAt = row.createdAt ?? now;
  const { emailVerified } = row;
  return {
    id: newId('acc'),
    external_id: row.externalId,
    email: row.email,
    first_name: row.firstName,
    last_name: row.lastName,
    role: 'user',
    avatar: row.avatar,
    preferred_locale: row.preferredLocale,
    email_verified_at: typeof emailVerified === 'string' ? emailVerified : emailVerified ? createdAt : null,
    password_hash: row.passwordHash,
    created_by: 'operator',
    disabled_at: row.isDisabled ? now : null,
    created_at: createdAt,
    updated_at: now,
  };
}

async function findEmails({ tx }: Batch, emails: readonly string[]): Promise<Set<string>> {
  const rows = await tx.execute<{ email: string }[]>(
    `select lower(email) as email from account
     where lower(email) = any(array(select json_array_elements_text(?::json)))`,
    [JSON.stringify(emails)],
  );
  return new Set(rows.map(({ email }) => email));
}

/** Notes the most expensive scheme of each kind of hash, which every sign-in has to cover from now on. */
async function noteSchemes({ tx }: Batch, rows: readonly Numbered<'account'>[]): Promise<void> {
  const byKind = new Map<string, { kind: string; scheme: string; work: number }>();
  for (const { row } of rows) {
    if (row.passwordHash === null) continue;
    const { scheme, work } = readForeignHash(row.passwordHash);
    const kind = scheme.split('$')[1] ?? '';
    if (work > (byKind.get(kind)?.work ?? 0)) byKind.set(kind, { kind, scheme, work });
  }
  const updated = new Date().toISOString();
  await insertRows(
    tx,
    'password_scheme',
    'kind, scheme, work, updated_at',
    [...byKind.values()].map((scheme) => ({ ...scheme, updated_at: updated })),
    `on conflict (kind) do update set updated_at = now(), work = greatest(password_scheme.work, excluded.work),
       scheme = case when excluded.work > password_scheme.work then excluded.scheme else password_scheme.scheme end`,
  );
}
