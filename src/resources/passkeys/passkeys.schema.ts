import { z } from 'zod';
import { readableName, resourceId, text, timestamp } from '../../procedures/fields.ts';

export const passkeyName = readableName(1, 100);

export const passkeyOutput = z.object({
  id: z.string(),
  name: z.string(),
  createdAt: timestamp,
  lastUsedAt: timestamp.nullable(),
});

/** A credential's id has at most 1,023 bytes (WebAuthn 3, section 4). */
const credentialId = z.base64url().min(1).max(1364);
const credential = { id: credentialId, rawId: credentialId, type: z.literal('public-key') };

/** The result of `navigator.credentials.create`, as JSON. Other members are ignored. */
const registrationResponse = z.object({
  ...credential,
  response: z.object({
    clientDataJSON: z.base64url(),
    attestationObject: z.base64url(),
    transports: z.array(text(1, 32)).max(16).optional(),
  }),
});
export type RegistrationResponse = z.infer<typeof registrationResponse>;

/** The result of `navigator.credentials.get`, as JSON. */
const signInResponse = z.object({
  ...credential,
  response: z.object({
    clientDataJSON: z.base64url(),
    authenticatorData: z.base64url(),
    signature: z.base64url(),
    userHandle: z.base64url().nullish(),
  }),
});
export type SignInResponse = z.infer<typeof signInResponse>;

export const registerInput = z.object({ name: passkeyName, response: registrationResponse });
export const signInInput = z.object({ response: signInResponse });
export const renameInput = z.object({ id: resourceId, name: passkeyName });
export const removeInput = z.object({ id: resourceId });

const credentialList = z.array(
  z.object({ type: z.literal('public-key'), id: z.string(), transports: z.array(z.string()) }),
);

/** The options of `navigator.credentials.create`, as JSON. */
export const registrationOptions = z.object({
  challenge: z.string(),
  rp: z.object({ id: z.string(), name: z.string() }),
  user: z.object({ id: z.string(), name: z.string(), displayName: z.string() }),
  pubKeyCredParams: z.array(z.object({ type: z.literal('public-key'), alg: z.number() })),
  timeout: z.number(),
  attestation: z.literal('none'),
  authenticatorSelection: z.object({
    residentKey: z.literal('required'),
    requireResidentKey: z.literal(true),
    userVerification: z.literal('required'),
  }),
  excludeCredentials: credentialList,
});

/** The options of `navigator.credentials.get`, as JSON. Without a list of credentials the user chooses the account. */
export const signInOptions = z.object({
  challenge: z.string(),
  rpId: z.string(),
  timeout: z.number(),
  userVerification: z.literal('required'),
});

/** The same options, limited to the passkeys of one account. */
export const proofOptions = signInOptions.extend({ allowCredentials: credentialList });
