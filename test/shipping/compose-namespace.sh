# Part of run-compose.sh, in namespaces of its own: starts the engine, then runs the tests.
set -euo pipefail
work=$1
resolver=$(realpath -m /etc/resolv.conf)
mount -t tmpfs tmpfs /run
# Podman reads this file, which is a link into /run on some systems.
[ -e "$resolver" ] || { mkdir -p "${resolver%/*}"; touch "$resolver"; }
mount -t tmpfs tmpfs /dev/shm
ip link set lo up
podman system service --time=0 "$DOCKER_HOST" >"$work/service.log" 2>&1 &
until [ -S "$work/podman.sock" ]; do sleep 0.1; done

# Podman leaves the checks of health to systemd, of which this is a part: containers are checked until they pass.
while sleep 1; do
  for container in $(podman ps --quiet --filter health=starting); do podman healthcheck run "$container" || true; done
done >/dev/null 2>&1 &

status=0
node bin/run.cjs node_modules/vitest/vitest.mjs run --project compose || status=$?
[ "$status" = 0 ] || { $COMPOSE logs --no-color --tail 30; tail -20 "$work/service.log"; } >&2
$COMPOSE down --volumes --timeout 1 2>/dev/null
left=$(podman ps --all --quiet; podman volume ls --quiet; podman network ls --quiet --filter label=com.docker.compose.project)
[ -z "$left" ] || { echo "Left after the end: $left" >&2; status=1; }
exit "$status"
