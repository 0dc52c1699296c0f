// Converts the password hashes that Auth0's support exports, and optionally a user export, to Roster's import format.
import { readNdjson, toMetadata, warn, write } from './lines.mjs';

const [path, profilesPath] = process.argv.slice(2);
if (path === undefined) throw new Error('Usage: node auth0.mjs hashes.ndjson [profiles.ndjson] > users.ndjson');

const profiles = new Map();
if (profilesPath !== undefined)
  for await (const profile of readNdjson(profilesPath)) profiles.set(profile.user_id, profile);

for await (const user of readNdjson(path)) {
  const externalId = `auth0|${user.alt_id ?? user._id.$oid}`;
  const identifier = user.identifiers?.find(({ type }) => type === 'email');
  const email = user.email ?? identifier?.value;
  if (!email) {
    warn('users without an email address were left out');
    continue;
  }
  const profile = profiles.get(externalId) ?? {};
  await write({
    type: 'account',
    externalId,
    email,
    emailVerified: user.email_verified ?? identifier?.verified ?? false,
    firstName: profile.given_name,
    lastName: profile.family_name,
    avatar: profile.picture,
    isDisabled: profile.blocked ?? false,
    passwordHash: user.passwordHash,
    metadata: toMetadata(profile.user_metadata, profile.app_metadata),
    createdAt: profile.created_at,
  });
}
