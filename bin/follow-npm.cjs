'use strict';
// Old syntax on purpose, as in run.cjs.
// npm runs scripts in a shell and sends a signal to that shell only, which ends without passing it on.
var SHELL = /^\d+ \((?:sh|dash|bash|ash|busybox|zsh)\) \S (\d+)/;
var CHECK_MS = 250;

// The parent of a process if that process is a shell, on Linux; undefined where this cannot be known.
function parentOfShell(pid) {
  try {
    var found = SHELL.exec(require('fs').readFileSync('/proc/' + pid + '/stat', 'utf8'));
    return found ? found[1] : undefined;
  } catch (error) {
    if (!error.syscall) throw error;
    return undefined;
  }
}

var isNpmScript = process.env.npm_lifecycle_event && process.platform !== 'win32';

// Calls `stop` once npm, or the shell between, no longer runs. `parent` is that of this process at its start.
function onNpmExit(parent, stop) {
  if (!isNpmScript) return;
  var npm = parentOfShell(parent);
  var watch = setInterval(function () {
    if (process.ppid === parent && (npm === undefined || parentOfShell(parent) === npm)) return;
    clearInterval(watch);
    stop();
  }, CHECK_MS);
  watch.unref();
}

// Tells this process, after it has become the script, what to follow. The processes that the script starts get the
// variable too, but have another id.
function announce() {
  if (isNpmScript) process.env.ROSTER_NPM_CHILD = process.pid + ' ' + process.ppid;
}

exports.onNpmExit = onNpmExit;
exports.announce = announce;
exports.preload = isNpmScript ? ['--require', __filename] : [];

var told = (process.env.ROSTER_NPM_CHILD || '').split(' ');
if (told[0] === String(process.pid) && require('worker_threads').isMainThread) {
  onNpmExit(Number(told[1]), function () {
    process.kill(process.pid, 'SIGTERM');
  });
}
