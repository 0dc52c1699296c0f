// Converts a Better Auth database, exported as README.md shows, to Roster's import format.
import { base64, createRoles, readNdjson, toMetadata, warn, write } from './lines.mjs';

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

/** What an `admin` of an organization could do. */
const ADMIN = ['edit_team_settings', 'access_dashboard', 'remove_members', 'invite_members'];

const organizations = [];
const rolesOf = new Map();
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
    const { organizationId: team, userId: account } = entry;
    const role = toRole(team, roles);
    await write({ type: 'membership', team, account, role, joinedAt: toTime(entry.createdAt) });
  } else throw new Error(`\`table\` is ${table}; it must be user, organization or member.`);
}

/** Of several roles, and of a second owner, the one that can do most. */
function toRole(team, roles) {
  const former = roles.some((role) => role === 'admin' || role === 'owner')
    ? 'admin'
    : (roles.find((role) => role !== 'member' && role !== '') ?? 'member');
  if (roles.length > 1) warn('members with several roles got one of them');
  if (former === 'member') return 'member';
  if (!rolesOf.has(team)) rolesOf.set(team, createRoles(ADMIN));
  return rolesOf.get(team).note(former);
}

/** A JSON object, or its text. */
function toObject(metadata) {
  try {
    return typeof metadata === 'string' ? JSON.parse(metadata) : metadata;
  } catch {
    return null;
  }
}

for (const { id, name, slug, logo, metadata, createdAt } of organizations) {
  const owner = owners.get(id);
  if (owner === undefined) warn('organizations without an owner were left out');
  else {
    const avatarUrl = /^https?:/.test(logo ?? '') ? logo : null;
    await write({
      type: 'team',
      externalId: id,
      name,
      slug,
      owner,
      avatarUrl,
      roles: rolesOf.get(id)?.list(),
      metadata: toMetadata(toObject(metadata)),
      createdAt: toTime(createdAt),
    });
  }
}
