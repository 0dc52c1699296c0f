import { Option, type Command } from 'commander';
import { listTeamMembers } from '../resources/members/members.queries.ts';
import { withAccountId } from '../resources/members/members.schema.ts';
import { addMember, setMember } from '../resources/members/members.service.ts';
import type { Services } from '../service/services.ts';
import { CommandError } from './failure.ts';
import { memberMetadataCommand } from './metadata.ts';
import { requireAccountByEmail, withServices } from './operate.ts';
import { emailOption, expiryOption, instantOrNever, option, teamOption } from './options.ts';
import type { Answer } from './output.ts';

type AddOptions = { team: string; email: string; role?: string; inactive?: true; expiresAt?: Date };
type SetOptions = {
  team: string;
  email: string;
  role?: string;
  active?: true;
  inactive?: true;
  expiresAt?: Date | 'never';
};

export function memberCommands(member: Command): void {
  member
    .command('add')
    .description('Add an account to a team (ignores the seat limit)')
    .addOption(teamOption())
    .addOption(emailOption('the account'))
    .option('--role <id>', 'member, guest or the id of a role of the team (default: member)')
    .option('--inactive', 'add an inactive member')
    .addOption(expiryOption())
    .action(
      withServices(async (services, { team, email, role, inactive, expiresAt }: AddOptions) => {
        const { id } = await requireAccountByEmail(services, email);
        await addMember(services.db, 'system', team, id, { roleId: role, isActive: !inactive, expiresAt });
        return answer(services, team, id);
      }),
    );

  member
    .command('set')
    .description('Change a membership, except the owner’s')
    .addOption(teamOption())
    .addOption(emailOption('the member'))
    .option('--role <id>', 'member, guest or the id of a role of the team')
    .addOption(new Option('--active', 'activate the member').conflicts('inactive'))
    .option('--inactive', 'deactivate the member')
    .addOption(option('--expires-at <instant>', 'expiry, as ISO 8601 with a time zone, or `never`', instantOrNever))
    .action(
      withServices(async (services, { team, email, role, active, inactive, expiresAt }: SetOptions) => {
        const isActive = active ?? (inactive && false);
        if (role === undefined && isActive === undefined && expiresAt === undefined) {
          throw new CommandError('name a change: --role, --active, --inactive or --expires-at');
        }
        const { id } = await requireAccountByEmail(services, email);
        await setMember(services.db, 'system', team, id, {
          roleId: role,
          isActive,
          expiresAt: expiresAt === 'never' ? null : expiresAt,
        });
        return answer(services, team, id);
      }),
    );

  memberMetadataCommand(member);
}

async function answer({ db }: Services, teamId: string, accountId: string): Promise<Answer> {
  const member = (await listTeamMembers(db, teamId)).items().find((candidate) => candidate.userId === accountId);
  if (member === undefined) throw new CommandError('the member was removed concurrently');
  const state = member.isActive ? 'active' : 'inactive or expired';
  return {
    json: withAccountId(member),
    lines: [[member.membershipId, member.email ?? '-', member.roleName, `(${state})`]],
  };
}
