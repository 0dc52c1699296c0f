import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import { open, type CityResponse, type Reader } from 'maxmind';
import { ConfigError, type Config } from '../config/config.ts';

export type ClientLocation = { readonly country: string | null; readonly city: string | null };

/** Returns the location of a client, as far as a trusted source knows it. */
export type LocateClient = (req: IncomingMessage, address: string) => ClientLocation;

type Settings = Pick<Config, 'countryHeader' | 'cityHeader' | 'maxmindFile'>;

const UNKNOWN_LOCATION: ClientLocation = { country: null, city: null };

/**
 * Locates clients by the headers of a trusted proxy, else by the operator's MaxMind database.
 * Headers of other senders are ignored.
 */
export async function openGeolocation(
  { countryHeader, cityHeader, maxmindFile }: Settings,
  isProxied: (req: IncomingMessage) => boolean,
): Promise<LocateClient> {
  const database = maxmindFile === undefined ? undefined : await openDatabase(maxmindFile);

  return (req, address) => {
    if (isProxied(req)) {
      const header = (name: string | undefined) => (name === undefined ? null : readText(req.headers[name]));
      const location = { country: header(countryHeader), city: header(cityHeader) };
      if (location.country !== null || location.city !== null) return location;
    }
    const found = isIP(address) === 0 ? null : database?.get(address);
    // Databases of other vendors can lack members that the types require.
    return found ? { country: found.country?.iso_code ?? null, city: found.city?.names?.en ?? null } : UNKNOWN_LOCATION;
  };
}

async function openDatabase(file: string): Promise<Reader<CityResponse>> {
  const createError = (reason: string) => new ConfigError(`MAXMIND_FILE: ${file}: ${reason}`);
  const database = await open<CityResponse>(file).catch((error: unknown) => {
    if (error instanceof Error && 'syscall' in error) throw createError(error.message);
    throw createError('is not a MaxMind database');
  });
  const type = String(database.metadata.databaseType);
  if (!/city|country|enterprise/i.test(type))
    throw createError(`contains neither countries nor cities (its type is ${type})`);
  return database;
}

const LENGTH_MAX = 100;

function readText(value: string | string[] | undefined): string | null {
  if (typeof value !== 'string') return null;
  const text = decodeHeader(value).trim();
  return text === '' || /\p{C}/u.test(text) ? null : Array.from(text).slice(0, LENGTH_MAX).join('');
}

const UTF8 = new TextDecoder('utf-8', { fatal: true });

/** Decodes UTF-8, in which proxies write city names; Node decodes headers as Latin-1. */
function decodeHeader(value: string): string {
  try {
    return UTF8.decode(Buffer.from(value, 'latin1'));
  } catch {
    return value;
  }
}
