import { readForeignHash } from '../../crypto/foreign-hash.ts';
import { query } from '../../db/query.ts';
import { newId } from '../../entities/index.ts';
import {
  METADATA_COLUMNS,
  insertInto,
  toMetadataColumns,
  findIds,
  insertRows,
  newOutcome,
  recordMetadata,
  recordRows,
  refuse,
  type Batch,
  type Numbered,
  type Outcome,
} from './batch.ts';

const COLUMNS = `id, external_id, email, first_name, last_name, role, avatar, preferred_locale, email_verified_at,
  password_hash, created_by, disabled_at, import_id, created_at, updated_at, ${METADATA_COLUMNS}`;
const insertAccounts = insertInto('account', COLUMNS);

const insertSchemes = insertInto(
  'password_scheme',
  'kind, scheme, work, accounts, updated_at',
  'upsert_imported',
  `on conflict (kind) do update
   set accounts = password_scheme.accounts + excluded.accounts, updated_at = excluded.updated_at`,
);

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
    const created = accepted.map((row) => toColumns(row, batch.importId));
    await insertRows(tx, insertAccounts, created);
    await noteSchemes(batch, accepted);
    await recordRows(batch, 'account.created', created.map(toEvent));
    await recordMetadata(
      batch,
      'account',
      created.map(({ id, public_metadata, private_metadata }) => ({
        id,
        fields: { accountId: id },
        metadata: { public: public_metadata, private: private_metadata },
      })),
    );
    await recordRows(batch, 'operator.account_disabled', created.filter((row) => row.disabled_at).map(toEvent));
  }
  return outcome;
}

const toEvent = ({ id }: { readonly id: string }) => ({ accountId: id });

function toColumns({ row }: Numbered<'account'>, importId: string) {
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
    import_id: importId,
    created_at: createdAt,
    updated_at: now,
    ...toMetadataColumns(row),
  };
}

const takenEmails = query<{ email: string }>(
  'account_list_of_emails',
  `select lower(email) as email from account
   where lower(email) = any(array(select json_array_elements_text($1::json)))`,
);

async function findEmails({ tx }: Batch, emails: readonly string[]): Promise<Set<string>> {
  const [rows] = await tx.run([[takenEmails, [JSON.stringify(emails)]]]);
  return new Set(rows.map(({ email }) => email));
}

/** Notes the schemes of the hashes, of which sign-ins at unknown addresses compute some from now on. */
async function noteSchemes({ tx }: Batch, rows: readonly Numbered<'account'>[]): Promise<void> {
  const found = new Map<string, { kind: string; scheme: string; work: number; accounts: number; updated_at: Date }>();
  for (const { row } of rows) {
    if (row.passwordHash === null) continue;
    const { scheme, work } = readForeignHash(row.passwordHash);
    const accounts = 1 + (found.get(scheme)?.accounts ?? 0);
    found.set(scheme, { kind: scheme, scheme, work, accounts, updated_at: NOT_COUNTED });
  }
  await insertRows(
    tx,
    insertSchemes,
    [...found.values()].toSorted((a, b) => (a.kind < b.kind ? -1 : 1)),
  );
}

/** Has the job count all accounts within a minute. */
const NOT_COUNTED = new Date(0);
