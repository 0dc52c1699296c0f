import { readFileSync } from 'node:fs';
import { ConfigError } from '../../config/config.ts';
import { decodeText } from '../../config/text-file.ts';
import { ProblemError } from '../../problems/error.ts';
import type { Services } from '../../service/services.ts';
import { applyCatalogue } from './catalogue.service.ts';
import { catalogueFile, type Catalogue } from './permissions.schema.ts';

/** More than 500 permissions with texts in many languages. */
const BYTES_MAX = 8 * 1024 * 1024;

/** Reads a catalogue from a JSON file. @throws what `toError` returns for a fault in one line */
export function readCatalogueFile(file: string, toError: (fault: string) => Error): Catalogue {
  const { data, error } = catalogueFile.safeParse(readJson(file, toError));
  if (data !== undefined) return data;
  const [issue] = error.issues;
  const path = issue?.path.join('.') || 'the content';
  throw toError(`${file}: ${path}: ${issue?.message ?? 'invalid'}`);
}

function readJson(file: string, toError: (fault: string) => Error): unknown {
  try {
    const content = readFileSync(file);
    if (content.byteLength > BYTES_MAX) throw new Error(`it has more than ${BYTES_MAX} bytes`);
    return JSON.parse(decodeText(content));
  } catch (error) {
    throw toError(`${file} cannot be read as JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** Applies the file of PERMISSIONS_FILE at a start. Replicas do it one after another, and the first changes something. */
export async function applyPermissionsFile({ config, db }: Pick<Services, 'config' | 'db'>): Promise<void> {
  const { permissionsFile: file } = config;
  if (file === undefined) return;
  const catalogue = readCatalogueFile(file, (fault) => new ConfigError(`PERMISSIONS_FILE: ${fault}`));
  try {
    await applyCatalogue(db, 'system', catalogue);
  } catch (error) {
    throw error instanceof ProblemError ? new ConfigError(`PERMISSIONS_FILE: ${file}: ${error.message}`) : error;
  }
}
