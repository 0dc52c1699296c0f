// Converts a Better Auth database, exported as README.md shows, to Roster's import format.
import { base64, readNdjson, warn, write } from './lines.mjs';

const [path] = process.argv.slice(2);
if (path === undefined) throw new Error('Usage: node better-auth.mjs export.ndjson > users.ndjson');

/** Better Auth's scrypt: the salt is used as the text of its hex digits. */
function toPasswordHash(password) {
  const [, salt, key] = /^([0-9a-f]+):([0-9a-f]+)$/.exec(password ?? '') ?? [];
  if (key !== undefined) return `$scrypt$ln=14,r=16,p=1$${base64(salt)}$${base64(Buffer.from(key, 'hex'))}`;
  return password?.startsWith('$') ? password : null;
}

const toTime = (value) => (value ? new Date(value).toISOString() : null);

/** Adapters name columns `emailVerified` or `email_verified`. */
const toCamelCase = (row) =>
  Object.fromEntries(
    Object.entries(row).map(([name, value]) => [name.replace(/_(\w)/g, (_, c) => c.toUpperCase()), value]),
  );

const organizations = [];
const owners = new Map();

for await (const row of readNdjson(path)) {
  const { table, ...entry } = toCamelCase(row);
  if (table === 'user') {
    const [firstName, ...rest] = (entry.name ?? '').trim().split(/\s+/);
    await write({
      type: 'account',
      externalId: entry.id,
      email: entry.email,
      emailVerified: Boolean(entry.emailVerified),
      firstName,
      lastName: rest.join(' '),
      avatar: /^https?:/.test(entry.image ?? '') ? entry.image : null,
      passwordHash: toPasswordHash(entry.password),
      isDisabled: Boolean(entry.banned),
      createdAt: toTime(entry.createdAt),
    });
    if (!entry.password) warn('users without a password: they sign in with an emailed link');
  } else if (table === 'organization') organizations.push(entry);
  else if (table === 'member') {
    const roles = (entry.role ?? 'member').split(',').map((role) => role.trim());
    if (roles.includes('owner') && !owners.has(entry.organizationId)) {
      owners.set(entry.organizationId, entry.userId);
      continue;
    }
    if (!roles.includes('member')) warn(`members with the role ${roles.join(', ')} became ordinary members`);
    const { organizationId: team, userId: account } = entry;
    await write({ type: 'membership', team, account, role: 'member', joinedAt: toTime(entry.createdAt) });
  } else throw new Error(`\`table\` is ${table}; it must be user, organization or member.`);
}

for (const { id, name, slug, logo, createdAt } of organizations) {
  const owner = owners.get(id);
  if (owner === undefined) warn('organizations without an owner were left out');
  else {
    const avatarUrl = /^https?:/.test(logo ?? '') ? logo : null;
    await write({ type: 'team', externalId: id, name, slug, owner, avatarUrl, createdAt: toTime(createdAt) });
  }
}
