'use strict';
// Old syntax on purpose: npm runs this at the end of `npm ci`, under whatever Node is on PATH.
// Packs the client as `npm pack` does: node build-client.cjs [FILE], by default the file that the service serves.
var fs = require('fs');
var os = require('os');
var path = require('path');

var SOURCE = path.join(__dirname, '../clients/typescript');
var target = path.resolve(process.argv[2] || path.join(__dirname, '../dist/clients/typescript.tgz'));

function compiler() {
  try {
    return path.join(path.dirname(require.resolve('typescript/package.json')), 'bin/tsc');
  } catch (error) {
    if (error.code !== 'MODULE_NOT_FOUND') throw error;
    return undefined;
  }
}

function run(command, args) {
  var result = require('child_process').spawnSync(command, args, { encoding: 'utf8' });
  if (result.status === 0) return;
  var output = result.error ? result.error.message : result.stdout + result.stderr;
  throw new Error(command + ' ' + args.join(' ') + ' failed: ' + output);
}

/** Runs the npm that runs this, or else the one on PATH. */
function npm(args) {
  var cli = process.env.npm_execpath;
  if (cli && path.basename(cli) === 'npm-cli.js') run(process.execPath, [cli].concat(args));
  else run('npm', args);
}

function pack(tsc) {
  var staging = fs.mkdtempSync(path.join(os.tmpdir(), 'roster-client-'));
  try {
    run(process.execPath, [path.join(__dirname, 'run.cjs'), tsc, '-p', SOURCE, '--outDir', path.join(staging, 'dist')]);
    ['package.json', 'README.md'].forEach(function (file) {
      fs.copyFileSync(path.join(SOURCE, file), path.join(staging, file));
    });
    npm(['pack', staging, '--ignore-scripts', '--silent', '--pack-destination', staging]);
    var packed = fs.readdirSync(staging).filter(function (file) {
      return path.extname(file) === '.tgz';
    })[0];
    // Renamed in its folder, so that nobody reads a half.
    fs.mkdirSync(path.dirname(target), { recursive: true });
    fs.copyFileSync(path.join(staging, packed), target + '.new');
    fs.renameSync(target + '.new', target);
  } finally {
    fs.rmSync(staging, { recursive: true });
  }
}

var tsc = compiler();
if (tsc) {
  pack(tsc);
} else if (process.env.npm_lifecycle_event !== 'prepare') {
  // As the console, after `npm ci --omit=dev`.
  process.stderr.write(
    'roster: the client cannot be built: TypeScript is not installed. Run `npm ci` without --omit=dev, then this again.\n',
  );
  process.exitCode = 1;
}
