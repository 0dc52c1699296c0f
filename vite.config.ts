import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import react from '@vitejs/plugin-react';
import { defineConfig, type Plugin } from 'vite';

const COMPRESSIBLE = /\.(?:js|css|svg|html)$/;

/** Brotli and gzip beside every file that gains by it, so that the service compresses nothing itself. */
const compressed = (): Plugin => ({
  name: 'compressed',
  apply: 'build',
  generateBundle: {
    order: 'post',
    handler(_options, bundle) {
      for (const file of Object.values(bundle)) {
        if (!COMPRESSIBLE.test(file.fileName)) continue;
        const source = Buffer.from(file.type === 'chunk' ? file.code : file.source);
        const params = { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY };
        this.emitFile({
          type: 'asset',
          fileName: `${file.fileName}.br`,
          source: brotliCompressSync(source, { params }),
        });
        this.emitFile({ type: 'asset', fileName: `${file.fileName}.gz`, source: gzipSync(source, { level: 9 }) });
      }
    },
  },
});

/**
 * The script that sets light or dark before anything is painted. It is a file of its own, because
 * the policy of the pages allows no inline script, and blocking, because modules run after the paint.
 */
function colorScheme(): Plugin {
  const source = readFileSync(new URL('./src/web/color-scheme.js', import.meta.url), 'utf8');
  const fileName = `assets/color-scheme-${createHash('sha256').update(source).digest('hex').slice(0, 8)}.js`;
  return {
    name: 'color-scheme',
    apply: 'build',
    buildStart() {
      this.emitFile({ type: 'asset', fileName, source });
    },
    transformIndexHtml: () => [{ tag: 'script', attrs: { src: `/${fileName}` }, injectTo: 'head-prepend' }],
  };
}

// eslint-disable-next-line import/no-default-export -- Vite reads it
export default defineConfig({
  root: 'src/web',
  base: '/',
  plugins: [react(), colorScheme(), compressed()],
  build: {
    outDir: '../../dist/web',
    emptyOutDir: true,
    sourcemap: false,
    modulePreload: { polyfill: false },
    // As a data: URL an image would need an exception in the policy.
    assetsInlineLimit: 0,
    reportCompressedSize: false,
  },
});
