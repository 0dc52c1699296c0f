import {
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { copiesOf, instruction, ROOT, stagesOfDockerfile, type Copy, type Stage } from './dockerfile.ts';

export type ImageTree = {
  readonly image: Stage;
  readonly node: string;
  readonly directory: string;
  /** The root of an image that was built (`build-image.sh`); undefined for files that were laid out by hand. */
  readonly root: string | undefined;
  remove(): void;
};

/** The image that was built, or its files as its last stage copies them, read-only, and a Node.js beside them. */
export function makeImageTree(): ImageTree {
  const image = stagesOfDockerfile().at(-1);
  if (image === undefined) throw new Error('The Dockerfile has no stage.');
  const built = process.env['IMAGE_ROOT'];
  if (built !== undefined)
    return {
      image,
      node: 'node',
      directory: instruction(image, 'WORKDIR'),
      root: built,
      remove: () => undefined,
    };
  const root = mkdtempSync(join(tmpdir(), 'roster-image-'));
  const directory = join(root, instruction(image, 'WORKDIR'));
  mkdirSync(directory, { recursive: true });
  for (const copy of copiesOf(image)) copyTo(directory, copy);
  // The user of the image need not be able to reach the one that runs the tests.
  const node = join(root, 'node');
  cpSync(process.execPath, node);
  setMode(root, 0o555);
  return {
    image,
    node,
    directory,
    root: undefined,
    remove() {
      setMode(root, 0o755);
      rmSync(root, { recursive: true });
    },
  };
}

function copyTo(directory: string, { from, sources, target }: Copy): void {
  for (const source of sources) {
    const to = join(directory, target === './' ? basename(source) : target);
    if (from === undefined) cpSync(join(ROOT, source), to, { recursive: true });
    else if (source === '/app/node_modules') copyPackages(to);
    else copyBuilt(source, to);
  }
}

/** What `npm ci --omit=dev --omit=optional` installs, by the lockfile. */
function copyPackages(to: string): void {
  type Entry = { readonly dev?: true; readonly optional?: true; readonly devOptional?: true };
  const { packages } = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, Entry>;
  };
  for (const [path, { dev, optional, devOptional }] of Object.entries(packages)) {
    if (path === '' || dev || optional || devOptional) continue;
    linkFiles(join(ROOT, path), join(to, '..', path));
  }
}

/** Ten thousand files, which are not copied: their folders are new, and what is in these stays as it is. */
function linkFiles(from: string, to: string): void {
  mkdirSync(to, { recursive: true });
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)];
    // Packages inside of packages have entries of their own.
    if (entry.isDirectory() && entry.name !== 'node_modules') linkFiles(source, target);
    else if (entry.isFile()) linkOrCopy(source, target);
  }
}

function linkOrCopy(source: string, target: string): void {
  try {
    linkSync(source, target);
  } catch (error) {
    // Another file system.
    if (!(error instanceof Error && 'code' in error && error.code === 'EXDEV')) throw error;
    copyFileSync(source, target);
  }
}

/** What the build stage has made, and `npm ci` makes here. */
function copyBuilt(source: string, to: string): void {
  const built = join(ROOT, source.replace(/^\/app\//, ''));
  if (!existsSync(built)) throw new Error(`${built} is missing: npm run build`);
  // Packages that are there already are links to the same files.
  cpSync(built, to, {
    recursive: true,
    filter: (_from, target) => statSync(target, { throwIfNoEntry: false })?.isFile() !== true,
  });
}

/** Of folders alone, because a file that is linked has its mode everywhere. */
function setMode(directory: string, mode: number): void {
  chmodSync(directory, mode);
  for (const entry of readdirSync(directory, { withFileTypes: true }))
    if (entry.isDirectory()) setMode(join(directory, entry.name), mode);
}
