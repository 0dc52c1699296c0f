// Converts the CSV that Clerk's dashboard exports, and optionally memberships of its Backend API, to Roster's format.
import { readFileSync } from 'node:fs';
import { base64, createRoles, readCsv, toMetadata, warn, write } from './lines.mjs';

const [path, membershipsPath] = process.argv.slice(2);
if (path === undefined) throw new Error('Usage: node clerk.mjs users.csv [memberships.json] > users.ndjson');

/** How each `password_hasher` becomes a PHC string. Digests of others cannot be verified. */
const HASHERS = {
  bcrypt: (digest) => digest,
  argon2i: (digest) => digest,
  argon2id: (digest) => digest,
  pbkdf2_sha256_django(digest) {
    const [, iterations, salt, hash] = digest.split('$');
    return `$pbkdf2-sha256$i=${iterations}$${base64(salt)}$${hash}`;
  },
  scrypt_firebase(digest) {
    const [hash, salt, signerKey, separator, rounds, memory] = digest.split('$');
    return `$fbscrypt$v=1,n=${memory},r=${rounds},p=1,ss=${separator},sk=${signerKey}$${salt}$${hash}`;
  },
};

function toPasswordHash(digest, hasher) {
  if (!digest) return null;
  if (Object.hasOwn(HASHERS, hasher)) return HASHERS[hasher](digest);
  warn(`passwords of the hasher ${hasher} were left out`);
  return null;
}

for await (const user of readCsv(path)) {
  const { id, primary_email_address: email } = user;
  if (!email) {
    warn('users without an email address were left out');
    continue;
  }
  await write({
    type: 'account',
    externalId: id,
    email,
    emailVerified: user.verified_email_addresses.split(/[|,; ]+/).includes(email),
    firstName: user.first_name,
    lastName: user.last_name,
    passwordHash: toPasswordHash(user.password_digest, user.password_hasher),
  });
}

/** What `org:admin` could do. */
const ADMIN = [
  'edit_team_settings',
  'access_dashboard',
  'remove_members',
  'invite_members',
  'access_billing',
  'manage_api_keys',
];

const list = membershipsPath === undefined ? [] : JSON.parse(readFileSync(membershipsPath, 'utf8'));
const teams = new Map();
for (const member of Array.isArray(list) ? list : list.data) {
  const { id } = member.organization;
  teams.set(id, [...(teams.get(id) ?? []), member]);
}
for (const [externalId, members] of teams) {
  const { name, slug, created_by: creator, created_at: createdAt, ...organization } = members[0].organization;
  const idOf = ({ public_user_data: { user_id: id } }) => id;
  const owner =
    members.find((member) => idOf(member) === creator) ??
    members.find(({ role }) => role === 'org:admin') ??
    members[0];
  const roles = createRoles(ADMIN);
  const others = members
    .filter((member) => member !== owner)
    .map((member) => {
      const former = member.role.replace(/^org:/, '');
      return { ...member, role: former === 'member' ? former : roles.note(former) };
    });
  await write({
    type: 'team',
    externalId,
    name,
    slug,
    owner: idOf(owner),
    roles: others.some(({ role }) => role !== 'member') ? roles.list() : null,
    metadata: toMetadata(organization.public_metadata, organization.private_metadata),
    createdAt: createdAt && new Date(createdAt).toISOString(),
  });
  for (const { role, created_at: at, ...member } of others) {
    const joinedAt = at && new Date(at).toISOString();
    const metadata = toMetadata(member.public_metadata, member.private_metadata);
    await write({ type: 'membership', team: externalId, account: idOf(member), role, metadata, joinedAt });
  }
}
