'use strict';
// Old syntax on purpose: npm runs this at the end of `npm ci`, under whatever Node is on PATH.
var path = require('path');

function viteProgram() {
  try {
    return path.join(path.dirname(require.resolve('vite/package.json')), 'bin/vite.js');
  } catch (error) {
    if (error.code !== 'MODULE_NOT_FOUND') throw error;
    return undefined;
  }
}

var vite = viteProgram();
if (vite) {
  var start = Date.now();
  process.stdout.write('roster: building the console\n');
  var run = path.join(__dirname, 'run.cjs');
  var build = require('child_process').spawnSync(process.execPath, [run, vite, 'build', '--logLevel', 'warn'], {
    cwd: path.join(__dirname, '..'),
    stdio: 'inherit',
  });
  process.exitCode = build.status === null ? 1 : build.status;
  if (build.status === 0)
    process.stdout.write('roster: console built in ' + Math.round((Date.now() - start) / 1000) + ' s\n');
} else if (process.env.npm_lifecycle_event !== 'prepare') {
  // `npm ci --omit=dev` runs `prepare` without Vite, which is right where the console comes from elsewhere.
  process.stderr.write(
    'roster: the console cannot be built: Vite is not installed. Run `npm ci` without --omit=dev, then this again.\n',
  );
  process.exitCode = 1;
}
