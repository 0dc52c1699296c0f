import { saveFile } from '../../components/table/csv.ts';
import { accountHeader, toClientError, withSession, type Inputs } from '../../trpc.ts';

/** The lists that can be exported as a whole, with their search and order. */
type Lists = {
  readonly accounts: Omit<Inputs['operator']['listAccounts'], 'cursor' | 'limit'>;
  readonly teams: Omit<Inputs['operator']['listTeams'], 'cursor' | 'limit'>;
};

/**
 * Downloads a whole list as CSV. It is saved once it is complete.
 * @throws TRPCClientError with the problem document, as procedures do
 */
export const downloadList = <Name extends keyof Lists>(name: Name, input: Lists[Name]): Promise<void> =>
  withSession(() => download(name, input));

async function download<Name extends keyof Lists>(name: Name, input: Lists[Name]): Promise<void> {
  const url = `/exports/${name}.csv?${new URLSearchParams({ input: JSON.stringify(input) }).toString()}`;
  const unreachable = () => Promise.reject(toClientError(null));
  const response = await fetch(url, { headers: accountHeader('exports') }).catch(unreachable);
  if (!response.ok) throw toClientError((await response.json().catch(() => null)) as object | null); // a problem document
  // Rejects if the service cuts the list off.
  saveFile(`${name}.csv`, [await response.blob().catch(unreachable)]);
}
