import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export type Issued = { readonly cert: string; readonly key: string };

/** A certificate authority made with openssl, in a folder of its own. All files are PEM. */
export function createAuthority() {
  const folder = mkdtempSync(join(tmpdir(), 'roster-ca-'));
  let issued = 0;
  const openssl = (...args: readonly string[]) =>
    execFileSync('openssl', [...args], { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] });
  const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];
  openssl('req', '-x509', ...newKey, '-keyout', 'ca.key', '-out', 'ca.crt', '-days', '2', '-subj', '/CN=Test CA');

  return {
    cert: join(folder, 'ca.crt'),
    /** @param names subject alternative names, such as `DNS:localhost` */
    issue(commonName: string, ...names: readonly string[]): Issued {
      const name = `issued-${(issued += 1)}`;
      const [cert, key, request, extensions] = ['crt', 'key', 'csr', 'ext'].map((end) =>
        join(folder, `${name}.${end}`),
      );
      openssl('req', ...newKey, '-keyout', `${key}`, '-out', `${request}`, '-subj', `/CN=${commonName}`);
      writeFileSync(`${extensions}`, names.length === 0 ? '' : `subjectAltName = ${names.join(', ')}\n`);
      const sign = ['-CA', 'ca.crt', '-CAkey', 'ca.key', '-CAcreateserial', '-days', '2', '-extfile', `${extensions}`];
      openssl('x509', '-req', '-in', `${request}`, '-out', `${cert}`, ...sign);
      return { cert: `${cert}`, key: `${key}` };
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}
