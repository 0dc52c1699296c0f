import { forOperatorSessions } from '../../procedures/procedures.ts';
import { router } from '../../procedures/trpc.ts';
import { listHolders } from './holders.ts';
import { holdersOutput } from './permissions.schema.ts';

/** Procedures of the operator’s area of the console alone. */
export const permissionsAreaRouter = router({
  /** How many hold each permission of the product. Apart from the catalogue, because it reads all holders. */
  permissionHolders: forOperatorSessions('teams:read')
    .output(holdersOutput)
    .query(({ ctx: { services } }) => listHolders(services.db)),
});
