import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import react from '@vitejs/plugin-react';
import { defineConfig, type Plugin } from 'vite';
import { partsOfTexts } from './bin/web-build/parts-of-texts.ts';
import { startScript } from './bin/web-build/start-script.ts';

const COMPRESSIBLE = /\.(?:js|css|svg|html)$/;

const [toBrotli, toGzip] = [promisify(brotliCompress), promisify(gzip)];
const params = { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY };

/**
 * Brotli and gzip beside every file that gains by it, so that the service compresses nothing itself. The files are
 * compressed by threads, because it takes as long as the rest of the build.
 */
const compressed = (): Plugin => ({
  name: 'compressed',
  apply: 'build',
  generateBundle: {
    order: 'post',
    async handler(_options, bundle) {
      const files = Object.values(bundle).filter(({ fileName }) => COMPRESSIBLE.test(fileName));
      await Promise.all(
        files.map(async (file) => {
          const { fileName } = file;
          const content = Buffer.from(file.type === 'chunk' ? file.code : file.source);
          const [br, gz] = await Promise.all([toBrotli(content, { params }), toGzip(content, { level: 9 })]);
          this.emitFile({ type: 'asset', fileName: `${fileName}.br`, source: br });
          this.emitFile({ type: 'asset', fileName: `${fileName}.gz`, source: gz });
        }),
      );
    },
  },
});

/** Matches modules and directories of these paths. */
const within = (...paths: string[]): RegExp => new RegExp(`/(?:${paths.join('|')})(?:\\.tsx?$|/)`);

/**
 * The files that pages share: of the first page, of forms, of the frame for signed-in users, and of tables. Over
 * HTTP/1.1, browsers load six files at a time, and automatic splitting makes 90 of a page. A group also takes what its
 * modules import, except what a group above has taken.
 */
const FILES = [
  { name: 'index', tags: ['$initial' as const], priority: 5 },
  {
    name: 'forms',
    priority: 4,
    test: within(
      '@mantine/form',
      '@tanstack/query-core',
      '@tanstack/react-query',
      'components/Divider',
      'components/(?:call-form|development-mail|link-page|new-password|passkey-button|request-link|resend-verification)',
      'messages/public',
      'web/passkeys',
    ),
  },
  {
    name: 'frame',
    priority: 3,
    test: within(
      'clients/typescript/src/react',
      '@mantine/core/esm/components/(?:Badge|Kbd|Radio)',
      'frame/(?:brand|current-team|frame-context|help-menu|navigation|notice-menu|team-opener|team-switcher|user-menu)',
      'components/(?:account-changed|commanded-dialog|confirmation|copyable|dates|dialog|dialog-buttons|form-dialog)',
      'components/(?:page-title|row-button|scope-choice|section|shortcuts)',
      'web/scopes',
      'messages/(?:members|oauth|permissions|team)',
      'pages/team/(?:refresh|roles/role-name|team)',
    ),
  },
  { name: 'table', priority: 2, test: within('table/(?:csv|data-table|row-dialogs|row-menu|search-text)') },
  // The rest: one file for each set of pages.
  { name: 'shared', priority: 1, minShareCount: 2, entriesAware: true },
];

// eslint-disable-next-line import/no-default-export -- Vite reads it
export default defineConfig({
  root: 'src/web',
  base: '/',
  plugins: [partsOfTexts(), react(), startScript(), compressed()],
  build: {
    outDir: '../../dist/web',
    emptyOutDir: true,
    sourcemap: false,
    // What each file imports, for the tests of what a page loads.
    manifest: 'manifest.json',
    modulePreload: { polyfill: false },
    // As a data: URL an image would need an exception in the policy.
    assetsInlineLimit: 0,
    reportCompressedSize: false,
    // All styles are 25 KB compressed: one file now is faster than several later.
    cssCodeSplit: false,
    // In kB before compression. test/web/loading.nightly.test.ts limits what is sent.
    chunkSizeWarningLimit: 1000,
    rolldownOptions: {
      output: { codeSplitting: { groups: FILES } },
      // tRPC's client does not say that links which are not used, such as that of WebSockets, can be left out.
      treeshake: { moduleSideEffects: [{ test: /@trpc\/client\/dist\//, sideEffects: false }] },
      // They warn that the compression takes long, which it has to.
      checks: { bundlerTimings: false },
    },
  },
});
