#!/usr/bin/env bash
# Builds the Dockerfile without a container engine and runs the tests of the image on what was built.
# Needs root, and Debian's packages buildah and debootstrap.
set -euo pipefail
cd "$(dirname "$0")/../.."
export STORAGE_DRIVER=vfs BUILDAH_ISOLATION=chroot
work=$(mktemp -d)
container=
trap 'test -z "$container" || buildah rm "$container" >/dev/null; rm -rf "$work"' EXIT

. test/shipping/base-image.sh
buildah bud --quiet --format docker --tag roster-test/roster --build-arg NODE_IMAGE=localhost/roster-test/node . >/dev/null

container=$(buildah from localhost/roster-test/roster)
root=$(buildah mount "$container")
echo "The image adds $(du -sm "$root/app" | cut -f1) MB to its base; the largest packages, in KB:"
du -s "$root"/app/node_modules/* | sort -rn | sed -n '1,5s#\t.*/#\t#p'
IMAGE_ROOT=$root node bin/run.cjs node_modules/vitest/vitest.mjs run --project nightly test/shipping/image.nightly.test.ts
