import { InvalidArgumentError, type Command } from 'commander';
import type { JsonObject } from '../entities/index.ts';
import { parseExactJson } from '../exact-json.ts';
import { metadataPatch } from '../resources/metadata/metadata-patch.ts';
import type { Metadata } from '../resources/metadata/metadata.queries.ts';
import type { MetadataPatch } from '../resources/metadata/metadata.service.ts';
import { readAccountMetadata, readMemberMetadata, readTeamMetadata } from '../resources/metadata/metadata.queries.ts';
import {
  updateAccountMetadata,
  updateMemberMetadata,
  updateTeamMetadata,
} from '../resources/metadata/metadata.service.ts';
import { toReadableJson } from '../messages/neutralize.ts';
import { requireAccountByEmail, withServices } from './operate.ts';
import { emailOption, option, teamOption } from './options.ts';
import type { Answer } from './output.ts';

/** An object, because commander replaces null. */
type Part = { readonly patch: JsonObject | null };
type Patched = { team: string; email: string; public?: Part; private?: Part; ifVersion?: number };

/** Adds the options of a change. Without one, the command only shows the metadata. */
const withPatch = (command: Command): Command =>
  command
    .addOption(option('--public <json>', 'merge patch (RFC 7396) of the public part', parsePatch))
    .addOption(option('--private <json>', 'merge patch (RFC 7396) of the private part', parsePatch))
    .addOption(option('--if-version <n>', 'change nothing if it has another version', parseVersion));

export const accountMetadataCommand = (account: Command): Command =>
  withPatch(account.command('metadata').description('Show or change the metadata of an account'))
    .addOption(emailOption('the account'))
    .action(
      withServices(async (services, { email, ...options }: Patched) => {
        const { id } = await requireAccountByEmail(services, email);
        if (hasPatch(options)) await updateAccountMetadata(services.db, 'system', id, toPatch(options));
        return show(await readAccountMetadata(services.db, id));
      }),
    );

export const teamMetadataCommand = (team: Command): Command =>
  withPatch(team.command('metadata').description('Show or change the metadata of a team'))
    .addOption(teamOption())
    .action(
      withServices(async ({ db }, { team: id, ...options }: Patched) => {
        if (hasPatch(options)) await updateTeamMetadata(db, 'system', id, toPatch(options));
        return show(await readTeamMetadata(db, id));
      }),
    );

export const memberMetadataCommand = (member: Command): Command =>
  withPatch(member.command('metadata').description('Show or change the metadata of a membership'))
    .addOption(teamOption())
    .addOption(emailOption('the member'))
    .action(
      withServices(async (services, { team, email, ...options }: Patched) => {
        const { id } = await requireAccountByEmail(services, email);
        if (hasPatch(options)) await updateMemberMetadata(services.db, 'system', team, id, toPatch(options));
        return show(await readMemberMetadata(services.db, team, id));
      }),
    );

type Options = Pick<Patched, 'public' | 'private' | 'ifVersion'>;

const hasPatch = (options: Options): boolean => options.public !== undefined || options.private !== undefined;

const toPatch = ({ ifVersion, ...parts }: Options): MetadataPatch => ({
  public: parts.public?.patch,
  private: parts.private?.patch,
  version: ifVersion,
});

const show = (metadata: Metadata): Answer => ({
  json: metadata,
  lines: [
    `public   ${toReadableJson(JSON.stringify(metadata.public))}`,
    `private  ${toReadableJson(JSON.stringify(metadata.private))}`,
    `version  ${metadata.version}`,
  ],
});

function parsePatch(raw: string): Part {
  let value: unknown;
  try {
    value = parseExactJson(raw);
  } catch {
    throw new InvalidArgumentError('It must be JSON.');
  }
  const { success, data, error } = metadataPatch.safeParse(value);
  if (success) return { patch: data };
  const [issue] = error.issues;
  const reason =
    issue?.code === 'custom' ? String(issue.params?.['reason']) : 'It must be a JSON object of valid text.';
  throw new InvalidArgumentError(`${issue?.path.length ? `/${issue.path.join('/')}: ` : ''}${reason}`);
}

function parseVersion(raw: string): number {
  if (!/^\d{1,9}$/.test(raw)) throw new InvalidArgumentError('It must be a version.');
  return Number(raw);
}
