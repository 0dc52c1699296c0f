import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { chromium, type Browser } from 'playwright-core';

const ARGUMENTS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];
/** The first one has no user interface of its own, and takes half of the processor time. */
const NAMES = ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome'];

const executable = findChromium();

/** Whether there is a browser to test with: `describe.skipIf(!hasChromium)`. Under CI there has to be one. */
export const hasChromium = executable !== undefined;

if (!hasChromium) {
  const advice = 'no Chromium: install it, or name its program in CHROMIUM_PATH';
  if (process.env['CI']) throw new Error(`The tests in a browser cannot run: ${advice}.`);
  process.stderr.write(`\n*** THE TESTS IN A BROWSER ARE SKIPPED: ${advice} ***\n\n`);
}

/**
 * A browser of its own, to be closed by whoever asked for it. For a service that listens on another port than
 * its BASE_URL names, give both: the browser then finds the service under its BASE_URL, as passkeys need it.
 */
export async function launchBrowser(service?: { readonly baseUrl: string; readonly port: number }): Promise<Browser> {
  if (executable === undefined) throw new Error('There is no Chromium.');
  const rules =
    service === undefined
      ? []
      : [`--host-resolver-rules=MAP ${new URL(service.baseUrl).host} 127.0.0.1:${service.port}`];
  return chromium.launch({ executablePath: executable, args: [...ARGUMENTS, ...rules] });
}

function findChromium(): string | undefined {
  const named = process.env['CHROMIUM_PATH'];
  if (named) {
    if (!existsSync(named)) throw new Error(`CHROMIUM_PATH: ${named} does not exist`);
    return named;
  }
  const directories = ['/usr/bin', ...(process.env['PATH'] ?? '').split(delimiter)];
  return NAMES.flatMap((name) => directories.map((directory) => join(directory, name))).find((path) =>
    existsSync(path),
  );
}
