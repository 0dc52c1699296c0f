import { parseDatabaseUrl } from '../config/database-url.ts';
import { isUnavailable } from '../db/errors.ts';
import { isDamage } from '../embedded-postgres/damage.ts';

type Target = { readonly host: string; readonly user: string; readonly database: string };

const FAULTS_BY_SQLSTATE: Readonly<Record<string, (target: Target) => string>> = {
  '28P01': ({ user, host }) => `PostgreSQL at ${host} denied the login of ${user}: check the user and the password`,
  '28000': ({ user, host }) =>
    `PostgreSQL at ${host} denied the login of ${user}: check pg_hba.conf and the TLS settings`,
  '3D000': ({ database, host }) => `the database ${database} does not exist at ${host}: create it`,
  '42501': ({ user, database }) => `${user} lacks a privilege: let it create and use tables in ${database}`,
  '25006': ({ host }) => `PostgreSQL at ${host} is read-only: set the primary server`,
  '57P03': ({ host }) => `PostgreSQL at ${host} is starting, stopping or recovering: try again`,
  '53100': ({ host }) => `the disk of PostgreSQL at ${host} is full`,
  '53300': ({ host }) =>
    `PostgreSQL at ${host} has no free connection: raise max_connections or lower DATABASE_POOL_MAX`,
};

const CERTIFICATE = /CERT|UNABLE_TO_(VERIFY|GET)|SELF_SIGNED/;

/** Explains why a database cannot be used, in one line that names the variable. @returns undefined for other errors */
export function connectionFault(error: unknown, databaseUrl: string, variable = 'DATABASE_URL'): string | undefined {
  if (error instanceof AggregateError) return connectionFault(error.errors[0], databaseUrl, variable);
  if (!(error instanceof Error)) return undefined;
  const target = parseTarget(databaseUrl);
  if (target === undefined) return undefined;
  const fault = explainError(error, target) ?? explainError(error.cause, target);
  return fault === undefined ? undefined : `${variable}: ${fault}`;
}

function explainError(error: unknown, target: Target): string | undefined {
  if (!(error instanceof Error)) return undefined;
  const code = 'code' in error ? String(error.code) : '';
  const known = FAULTS_BY_SQLSTATE[code];
  if (known !== undefined) return known(target);
  if (isDamage(code)) return `the files of PostgreSQL at ${target.host} are damaged: ${error.message} (${code})`;
  const [refused] = /(?<=unsupported startup parameter(?: in options)?: )[\w-]+/.exec(error.message) ?? [];
  if (refused !== undefined)
    return `the connection pooler at ${target.host} refuses the parameter ${refused}: set DATABASE_POOLER to auto, and remove options from the URL`;
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID')
    return `the certificate of ${target.host} is for another host name: set the name that it contains`;
  if (CERTIFICATE.test(code)) return `the certificate of ${target.host} is not trusted (${code}): check sslrootcert`;
  if (/^(EMFILE|ENFILE)$/.test(code) || /getaddrinfo EINVAL/.test(error.message))
    return `too many files are open to connect to ${target.host}: raise the limit (\`ulimit -n\`) (${code})`;
  if (/^(ENOTFOUND|EAI_)/.test(code)) return `the host name in ${target.host} cannot be resolved (${code})`;
  if (/client password must be a string/.test(error.message)) return `PostgreSQL at ${target.host} requires a password`;
  if (/does not support SSL/.test(error.message)) return `PostgreSQL at ${target.host} does not support TLS`;
  if (/^ERR_SSL_|^EPROTO$/.test(code)) return `TLS with ${target.host} failed (${code}): check sslcert and sslkey`;
  if (isUnavailable(error)) return `no PostgreSQL server answers at ${target.host} (${code || error.message})`;
  return undefined;
}

/** Returns the parts of a URL that are not secret. @returns undefined for an invalid URL, which `readConfig` reports */
function parseTarget(databaseUrl: string): Target | undefined {
  try {
    const { hosts, user = 'the default user', database } = parseDatabaseUrl(databaseUrl);
    const host = hosts.map((each) => (each.host.startsWith('/') ? each.host : `${each.host}:${each.port}`)).join(', ');
    return { host, user, database: database ?? user };
  } catch {
    return undefined;
  }
}
