import { READ_VARIABLES } from './database-url.ts';

/** The environment variables of libpq. https://www.postgresql.org/docs/current/libpq-envars.html */
const LIBPQ = new Set(
  `PGHOST PGSSLNEGOTIATION PGHOSTADDR PGPORT PGDATABASE PGUSER PGPASSWORD PGPASSFILE PGREQUIREAUTH PGCHANNELBINDING
   PGSERVICE PGSERVICEFILE PGOPTIONS PGAPPNAME PGSSLMODE PGREQUIRESSL PGSSLCOMPRESSION PGSSLCERT PGSSLCERTMODE PGSSLKEY
   PGSSLROOTCERT PGSSLCRL PGSSLCRLDIR PGSSLSNI PGREQUIREPEER PGSSLMINPROTOCOLVERSION PGSSLMAXPROTOCOLVERSION
   PGGSSENCMODE PGKRBSRVNAME PGGSSLIB PGGSSDELEGATION PGCONNECT_TIMEOUT PGCLIENTENCODING PGTARGETSESSIONATTRS
   PGLOADBALANCEHOSTS PGMINPROTOCOLVERSION PGMAXPROTOCOLVERSION PGDATESTYLE PGTZ PGGEQO PGSYSCONFDIR
   PGLOCALEDIR`.split(/\s+/),
);

const isQuoted = (value: string): boolean => /^(['"]).*\1$/s.test(value);

/** Says what is odd about the value of a variable that is refused, as files of settings cause it. */
export function oddity(value = ''): string | undefined {
  if (value.includes('\r')) return 'it contains a carriage return: save the file with Unix line ends';
  return isQuoted(value) ? 'the quotation marks are part of the value: remove them' : undefined;
}

/** Warns about what has no effect, or an effect that is hardly meant. */
export function readWarnings(set: Readonly<Record<string, string | undefined>>): readonly string[] {
  const warnings: string[] = [];
  // Removing them would change the key.
  if (isQuoted(set['SECRET_KEYS'] ?? ''))
    warnings.push('SECRET_KEYS: the quotation marks are part of the keys; keep them, or rotate the keys to others');
  const ignored = Object.keys(set).filter((name) => LIBPQ.has(name) && !READ_VARIABLES.includes(name));
  if (ignored.length > 0 && set['DATABASE_URL'] !== undefined)
    warnings.push(`${ignored.toSorted().join(', ')}: without effect; DATABASE_URL says how to connect`);
  return warnings;
}
