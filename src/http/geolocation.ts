import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import { open, type CityResponse, type Reader } from 'maxmind';
import { ConfigError, type Config } from '../config.ts';
import { isProxiedBy } from './client-address.ts';

export type ClientLocation = { readonly country: string | null; readonly city: string | null };

/** Says where a request comes from, as far as someone trusted knows. */
export type LocateClient = (req: IncomingMessage, address: string) => ClientLocation;

type Settings = Pick<Config, 'trustProxy' | 'countryHeader' | 'cityHeader' | 'maxmindFile'>;

const NOWHERE: ClientLocation = { country: null, city: null };

/**
 * By the headers of a trusted proxy, else by the operator's own MaxMind database, else unknown.
 * Headers of anybody else are not believed.
 */
export async function openGeolocation({
  trustProxy,
  countryHeader,
  cityHeader,
  maxmindFile,
}: Settings): Promise<LocateClient> {
  const isProxied = isProxiedBy(trustProxy);
  const database = maxmindFile === undefined ? undefined : await openDatabase(maxmindFile);

  return (req, address) => {
    if (isProxied(req)) {
      const header = (name: string | undefined) => (name === undefined ? null : textOf(req.headers[name]));
      const location = { country: header(countryHeader), city: header(cityHeader) };
      if (location.country !== null || location.city !== null) return location;
    }
    // A proxy can pass on what is no address.
    const found = isIP(address) === 0 ? null : database?.get(address.replace(/^::ffff:(?=\d+\.)/i, ''));
    // The types promise more than other makers' databases hold.
    return found ? { country: found.country?.iso_code ?? null, city: found.city?.names?.en ?? null } : NOWHERE;
  };
}

async function openDatabase(file: string): Promise<Reader<CityResponse>> {
  const fault = (reason: string) => new ConfigError(`MAXMIND_FILE: ${file}: ${reason}`);
  const database = await open<CityResponse>(file).catch((error: unknown) => {
    if (error instanceof Error && 'syscall' in error) throw fault(error.message);
    throw fault('is not a MaxMind database');
  });
  const type = String(database.metadata.databaseType);
  if (!/city|country|enterprise/i.test(type)) throw fault(`tells neither countries nor cities, it is ${type}`);
  return database;
}

const LENGTH_MAX = 100;

function textOf(value: string | string[] | undefined): string | null {
  if (typeof value !== 'string') return null;
  const text = decoded(value).trim();
  return text === '' || /\p{C}/u.test(text) ? null : Array.from(text).slice(0, LENGTH_MAX).join('');
}

const UTF8 = new TextDecoder('utf-8', { fatal: true });

/** Node reads headers as Latin-1; proxies write names of cities in UTF-8. */
function decoded(value: string): string {
  try {
    return UTF8.decode(Buffer.from(value, 'latin1'));
  } catch {
    return value;
  }
}
