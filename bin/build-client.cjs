'use strict';
// Old syntax on purpose: npm runs this at the end of `npm ci`, under whatever Node is on PATH.
// Packs the client as `npm pack` does, and the examples: node build-client.cjs [FOLDER], by default what the service
// serves at /clients.
var fs = require('fs');
var os = require('os');
var path = require('path');

var ROOT = path.join(__dirname, '..');
var SOURCE = path.join(ROOT, 'clients/typescript');
var folder = path.resolve(process.argv[2] || path.join(ROOT, 'dist/clients'));

// Editors show the comments of the declarations: the code has none.
var CODE_ONLY = ['--declaration', 'false', '--removeComments', '--noCheck'];

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

/** Packs what `fill` puts into an empty folder. */
function pack(name, fill) {
  var staging = fs.mkdtempSync(path.join(os.tmpdir(), 'roster-client-'));
  try {
    var content = path.join(staging, 'content');
    fs.mkdirSync(content);
    fill(content);
    npm(['pack', content, '--ignore-scripts', '--silent', '--pack-destination', staging]);
    var packed = fs.readdirSync(staging).filter(function (file) {
      return path.extname(file) === '.tgz';
    })[0];
    // Renamed in its folder, so that nobody reads a half.
    var target = path.join(folder, name);
    fs.mkdirSync(folder, { recursive: true });
    fs.copyFileSync(path.join(staging, packed), target + '.new.' + process.pid);
    fs.renameSync(target + '.new.' + process.pid, target);
  } finally {
    fs.rmSync(staging, { recursive: true });
  }
}

function fillClient(content) {
  var build = [path.join(__dirname, 'run.cjs'), tsc, '-p', SOURCE, '--outDir', path.join(content, 'dist')];
  run(process.execPath, build);
  run(process.execPath, build.concat(CODE_ONLY));
  ['package.json', 'README.md'].forEach(function (file) {
    fs.copyFileSync(path.join(SOURCE, file), path.join(content, file));
  });
}

function fillExamples(content) {
  fs.cpSync(path.join(ROOT, 'examples'), content, {
    recursive: true,
    filter: function (file) {
      return !/[\\/](node_modules|dist)$/.test(file);
    },
  });
  var version = JSON.parse(fs.readFileSync(path.join(SOURCE, 'package.json'), 'utf8')).version;
  var manifest = { name: 'roster-examples', version: version, private: true, type: 'module' };
  fs.writeFileSync(path.join(content, 'package.json'), JSON.stringify(manifest, null, 2) + '\n');
}

var tsc = compiler();
if (tsc) {
  var start = Date.now();
  process.stdout.write('roster: packing the client and the examples\n');
  pack('typescript.tgz', fillClient);
  pack('examples.tgz', fillExamples);
  process.stdout.write('roster: client and examples packed in ' + Math.round((Date.now() - start) / 1000) + ' s\n');
} else if (process.env.npm_lifecycle_event !== 'prepare') {
  // As the console, after `npm ci --omit=dev`.
  process.stderr.write(
    'roster: the client cannot be built: TypeScript is not installed. Run `npm ci` without --omit=dev, then this again.\n',
  );
  process.exitCode = 1;
}
