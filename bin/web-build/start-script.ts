import { createHash } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { build, type Plugin } from 'vite';
import { TEXTS } from './parts-of-texts.ts';

const ENTRY = fileURLToPath(new URL('../../src/web/start.ts', import.meta.url));

/**
 * The script that sets language, direction, and light or dark before anything is painted, and the texts that it can
 * load. It is a file of its own, because the policy of the pages allows no inline script, and blocking, because modules
 * run after the paint.
 */
export function startScript(): Plugin {
  let fileName = '';
  return {
    name: 'start-script',
    apply: 'build',
    async buildStart() {
      const source = await bundle();
      fileName = `assets/start-${createHash('sha256').update(source).digest('hex').slice(0, 8)}.js`;
      this.emitFile({ type: 'asset', fileName, source });
    },
    transformIndexHtml: {
      order: 'post',
      handler: (_html, { bundle: files = {} }) => [
        ...Object.values(files).flatMap((file) => {
          const [, language = '', part = ''] = (file.type === 'chunk' && TEXTS.exec(file.facadeModuleId ?? '')) || [];
          const attrs = { name: `roster-${part}-texts`, 'data-language': language, content: `/${file.fileName}` };
          return language === '' ? [] : [{ tag: 'meta', attrs, injectTo: 'head-prepend' as const }];
        }),
        { tag: 'script', attrs: { src: `/${fileName}` }, injectTo: 'head-prepend' as const },
      ],
    },
  };
}

/** Returns the script with what it imports, which is little: it delays the first paint. */
async function bundle(): Promise<string> {
  const built = await build({
    configFile: false,
    logLevel: 'warn',
    build: { write: false, rolldownOptions: { input: ENTRY, output: { format: 'iife' } }, modulePreload: false },
  });
  const [script] = 'output' in built ? built.output : [];
  if (script === undefined) throw new Error(`${ENTRY} was not built.`);
  return script.code;
}
