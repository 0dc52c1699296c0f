import { z } from 'zod';
import { PERMISSIONS } from '../../entities/index.ts';

export const roleOutput = z
  .object({
    roleId: z.string(),
    name: z.string().nullable(),
    isSystemRole: z.boolean(),
    isAssignable: z.boolean().meta({ description: 'Whether the caller can invite to this role.' }),
    permissions: z.array(z.enum(PERMISSIONS)),
  })
  .meta({ id: 'Role', description: 'A role of a team.' });
