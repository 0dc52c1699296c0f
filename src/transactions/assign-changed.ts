import { isDeepStrictEqual } from 'node:util';

type Given<Entity> = { readonly [Field in keyof Entity]?: Entity[Field] | undefined };

/**
 * Assigns those of the given fields that differ. Fields that are undefined keep their value.
 * @returns the names of the fields that changed, in the order of `given`; if there are none, nothing is to be recorded
 */
export function assignChanged<Entity extends object>(entity: Entity, given: Given<Entity>): string[] {
  const current = entity as Readonly<Record<string, unknown>>;
  const changed = Object.entries(given).filter(
    ([field, value]) => value !== undefined && !isDeepStrictEqual(current[field] ?? null, value),
  );
  Object.assign(entity, Object.fromEntries(changed));
  return changed.map(([field]) => field);
}
