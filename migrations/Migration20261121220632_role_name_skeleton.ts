import { Migration } from '@mikro-orm/migrations';
import { looksLike, roleNameSkeleton } from '../src/entities/role-name.ts';

type Row = { id: string; team_id: string; name: string };

const LENGTH_MAX = 100;
const SYSTEM_NAMES = ['Owner', 'Member', 'Guest'];

/**
 * Names of roles become unique to a reader. Of roles whose names look alike the oldest keeps its name, and the others
 * get a number. The column stays nullable, because the version before creates roles without it.
 */
export class Migration20261121220632_role_name_skeleton extends Migration {
  override name = 'Migration20261121220632_role_name_skeleton';

  override async up(): Promise<void> {
    // No role is created or renamed between the reading of the names and the index.
    await this.execute('lock table "role" in share row exclusive mode');
    await this.execute('alter table "role" add "name_skeleton" text null');
    const rows = (await this.execute(
      'select id, team_id, name from "role" where team_id is not null order by team_id, created_at, id',
    )) as Row[]; // the columns of the query

    let taken: string[] = [];
    let teamId: string | undefined;
    for (const row of rows) {
      if (row.team_id !== teamId) taken = [...SYSTEM_NAMES];
      teamId = row.team_id;
      const given = rows.filter(({ team_id }) => team_id === row.team_id).map((other) => other.name);
      const name = freeName(row.name, taken, given);
      taken.push(name);
      await this.execute('update "role" set name = ?, name_skeleton = ? where id = ?', [
        name,
        roleNameSkeleton(name),
        row.id,
      ]);
    }
    await this.execute('create unique index "role_name_skeleton_unique" on "role" ("team_id", "name_skeleton")');
    await this.execute(
      `alter table "role" add constraint "role_name_reserved_check" check (team_id is null or name_skeleton <> all (array['owner', 'member', 'guest']))`,
    );
  }

  override down(): void {
    this.addSql('alter table "role" drop column "name_skeleton";');
  }
}

/** @param given the names that are not looked at yet, too: a number must not take the name of one of them */
function freeName(name: string, taken: readonly string[], given: readonly string[]): string {
  const isFree = (candidate: string, among: readonly string[]) => !among.some((other) => looksLike(candidate, other));
  if (isFree(name, taken)) return name;
  for (let number = 2; ; number += 1) {
    const suffix = ` (${number})`;
    const candidate =
      Array.from(name)
        .slice(0, LENGTH_MAX - suffix.length)
        .join('') + suffix;
    if (isFree(candidate, [...taken, ...given])) return candidate;
  }
}
