import { Client, type ClientConfig, type Pool, type PoolClient } from 'pg';
import { getBackendKey, getPgConnection } from '../pipeline/pg-internals.ts';

const TIMEOUT_MS = 2000;

type Settings = ClientConfig & { readonly Client?: typeof Client };

/**
 * Asks PostgreSQL to cancel the statement that a client runs, over a separate connection, as the protocol wants it.
 * That also works through a connection pooler and TLS, other than `pg_cancel_backend` and the `cancel` of pg. The request
 * has no answer and can arrive after the statement has ended, so the client must not be used again.
 */
export function cancelStatement(pool: Pool, client: PoolClient): void {
  const { host, port } = client;
  const { processID, secretKey } = getBackendKey(client);
  const options = pool.options as unknown as Settings; // as connectionSettings makes them
  const { ssl } = getPgConnection(client); // which names the host that the certificate has to name
  const { sslnegotiation } = options;
  const connection = getPgConnection(new (options.Client ?? Client)({ ...options, host, port, ssl }));
  const send = () => connection.cancel(processID, secretKey);
  const timer = setTimeout(() => connection.stream.destroy(), TIMEOUT_MS).unref();
  connection.on('connect', () => {
    if (!ssl) send();
    else if (sslnegotiation !== 'direct') connection.requestSsl();
  });
  connection.on('sslconnect', send);
  connection.on('error', () => undefined);
  connection.on('end', () => clearTimeout(timer));
  if (host.startsWith('/')) connection.connect(`${host}/.s.PGSQL.${port}`);
  else connection.connect(port, host);
}
