'use strict';
// Old syntax on purpose: whatever Node is on PATH must be able to parse this file.
var path = require('path');

var MINIMUM = [24, 7];

function isNewEnough(version) {
  var parts = version.split('.').map(Number);
  return parts[0] > MINIMUM[0] || (parts[0] === MINIMUM[0] && parts[1] >= MINIMUM[1]);
}

function packagedNode() {
  var windows = process.platform === 'win32';
  var target = (windows ? 'win' : process.platform) + '-' + process.arch;
  var names = ['node-' + target, 'node-bin-' + target];
  for (var i = 0; i < names.length; i++) {
    try {
      var manifest = require.resolve(names[i] + '/package.json');
      return path.join(path.dirname(manifest), 'bin', windows ? 'node.exe' : 'node');
    } catch (error) {
      if (error.code !== 'MODULE_NOT_FOUND') throw error;
    }
  }
  return undefined;
}

function giveUp(reason) {
  process.stderr.write(
    'Roster needs Node.js ' +
      MINIMUM.join('.') +
      ' or newer: this is ' +
      process.version +
      ' and ' +
      reason +
      '. Install Node.js 24 (https://nodejs.org) and run the command again.\n',
  );
  process.exit(1);
}

var node = isNewEnough(process.versions.node) ? process.execPath : packagedNode();
if (!node) giveUp('npm packaged none for ' + process.platform + '-' + process.arch);

// So that a `node` started further down is this one as well.
process.env.PATH = path.dirname(node) + path.delimiter + (process.env.PATH || '');

// Halves the time to load; a folder that cannot be written only leaves it as it was.
process.env.NODE_COMPILE_CACHE =
  process.env.NODE_COMPILE_CACHE || path.join(__dirname, '../node_modules/.cache/compile');

// How the C library of Linux keeps memory is read when a process starts.
var allocator = require('./allocator.cjs');
Object.keys(allocator).forEach(function (name) {
  if (process.env[name] === undefined) process.env[name] = allocator[name];
});

var follow = require('./follow-npm.cjs');

// This Node becomes the script, in the same process: signals, exit codes and the terminal are its own, and no
// process waits for it. Not for another Node, because one that cannot run here could not say so.
if (node === process.execPath && process.execve && process.platform !== 'win32') {
  follow.announce();
  process.execve(node, [node].concat(follow.preload, process.argv.slice(2)), process.env);
}

var child;

// A terminal sends Ctrl-C and its hang-up to both processes. Sent on, the child would take the second for
// an impatient user; so here they are only outlived. On Windows sending a signal ends the child at once.
function sendOn(signal) {
  var terminalSends = process.stdin.isTTY && signal !== 'SIGTERM';
  if (!terminalSends && process.platform !== 'win32') child.kill(signal);
}
['SIGINT', 'SIGTERM', 'SIGHUP'].forEach(function (signal) {
  process.on(signal, function () {
    sendOn(signal);
  });
});

// Lets the service notice that this process was killed.
process.env.ROSTER_WRAPPER_PID = String(process.pid);

// After the handlers: a busy machine may let the child run, and be interrupted, before the next line here.
child = require('child_process').spawn(node, process.argv.slice(2), { stdio: 'inherit' });
child.on('error', function (error) {
  giveUp('the packaged one cannot run here (' + error.code + ')');
});
child.on('exit', function (code, signal) {
  process.exit(signal ? 128 + require('os').constants.signals[signal] : code);
});

follow.onNpmExit(process.ppid, function () {
  child.kill('SIGTERM');
});
