#!/usr/bin/env bash
# Runs compose.yaml as it is with Docker Compose and Podman, and the tests of what it starts.
# Needs root, and Debian's packages buildah, debootstrap, iproute2, podman and runc.
# Stand-ins made of Debian's packages take the names of the images, because no registry of images is assumed.
set -euo pipefail
cd "$(dirname "$0")/../.."
work=$(mktemp -d)
service=
finish() {
  [ -z "$service" ] || kill "$service"
  # The mounts of the store, the inner ones first; those of a build that failed are still there.
  awk -v folder="$work/" 'index($2, folder) == 1 { print $2 }' /proc/mounts | tac | xargs --no-run-if-empty umount
  rm -rf "$work"
}
trap finish EXIT

# A store of its own, which goes with the folder. Overlays cannot lie on another overlay.
driver=overlay
[ "$(stat -f -c %T "$work")" != overlayfs ] || driver=vfs
cat >"$work/storage.conf" <<END
[storage]
driver = "$driver"
graphroot = "$work/store"
runroot = "$work/run"
END
# Neither systemd nor limits as high as Podman's defaults are assumed.
cat >"$work/containers.conf" <<END
[containers]
default_ulimits = ["nofile=4096:4096", "nproc=4096:4096"]
[engine]
runtime = "runc"
cgroup_manager = "cgroupfs"
events_logger = "file"
tmp_dir = "$work/tmp"
[network]
network_config_dir = "$work/networks"
END
export CONTAINERS_STORAGE_CONF=$work/storage.conf CONTAINERS_CONF=$work/containers.conf BUILDAH_ISOLATION=chroot
export DOCKER_HOST=unix://$work/podman.sock DOCKER_BUILDKIT=0 DISABLE_HC_SYSTEMD=true

printf 'SECRET_KEYS=%s\nPOSTGRES_PASSWORD=%s\n' "$(openssl rand -hex 32)" "$(openssl rand -hex 24)" >"$work/env"
COMPOSE="$(.ci/docker-compose "$work/docker-compose") --ansi never --env-file $work/env"
export COMPOSE

. test/shipping/base-image.sh
buildah tag roster-test/node "$(sed -n 's/^ARG NODE_IMAGE=/docker.io\/library\//p' Dockerfile)"
for image in $(sed -n 's/^    image: //p' compose.yaml); do
  name=${image##*/}
  buildah bud --quiet --layers --target "${name%:*}" --tag "docker.io/${image/#"$name"/library/$name}" test/shipping/stand-ins >/dev/null
done

podman system service --time=0 "$DOCKER_HOST" >"$work/service.log" 2>&1 & service=$!
until [ -S "$work/podman.sock" ]; do sleep 0.1; done
$COMPOSE build migrate >"$work/log" 2>&1 || { tail -20 "$work/log" >&2; exit 1; }
kill "$service"
wait "$service" || true
service=
rm -f "$work/podman.sock"

# Ports, addresses and processes of their own: nothing collides, and nothing is left when the tests end or are killed.
unshare --net --mount --pid --fork --kill-child --mount-proc bash test/shipping/compose-namespace.sh "$work"
