import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import pixelmatch from 'pixelmatch';
import sharp from 'sharp';

/** Both pictures are of the same browser and fonts. Chromium rounds edges by one or two of 255 levels differently. */
const THRESHOLD = 0.01;

type Size = { readonly width: number; readonly height: number };

/** What became of the pictures: their file names. */
export type Comparison = {
  readonly same: readonly string[];
  /** With the number of pixels that differ. */
  readonly changed: readonly (readonly [picture: string, pixels: number])[];
  readonly added: readonly string[];
  readonly removed: readonly string[];
};

/** Compares the pictures of two folders pixel by pixel, and writes an image of each difference into a third. */
export async function compareFolders(before: string, after: string, differences: string): Promise<Comparison> {
  const [old, present] = [listPictures(before), listPictures(after)];
  const changed: (readonly [string, number])[] = [];
  const same: string[] = [];
  for (const picture of present.filter((name) => old.includes(name))) {
    const pixels = await comparePictures(join(before, picture), join(after, picture), join(differences, picture));
    if (pixels === 0) same.push(picture);
    else changed.push([picture, pixels]);
  }
  return {
    same,
    changed,
    added: present.filter((name) => !old.includes(name)),
    removed: old.filter((name) => !present.includes(name)),
  };
}

function listPictures(folder: string): readonly string[] {
  mkdirSync(folder, { recursive: true });
  return readdirSync(folder)
    .filter((name) => name.endsWith('.png'))
    .toSorted();
}

async function comparePictures(before: string, after: string, difference: string): Promise<number> {
  const sizes = await Promise.all([readSize(before), readSize(after)]);
  const width = Math.max(...sizes.map((size) => size.width));
  const height = Math.max(...sizes.map((size) => size.height));
  const [old, present] = await Promise.all([
    readPixels(before, { width, height }),
    readPixels(after, { width, height }),
  ]);
  if (old.equals(present)) return 0;
  const output = Buffer.alloc(old.length);
  const pixels = pixelmatch(old, present, output, width, height, { threshold: THRESHOLD, includeAA: true });
  if (pixels === 0) return 0;
  await sharp(output, { raw: { width, height, channels: 4 } })
    .png()
    .toFile(difference);
  return pixels;
}

async function readSize(file: string): Promise<Size> {
  const { width, height } = await sharp(file).metadata();
  return { width, height };
}

/** Reads a picture as RGBA, filled up to a size with transparent pixels, which differ from all others. */
async function readPixels(file: string, { width, height }: Size): Promise<Buffer> {
  const size = await readSize(file);
  return sharp(file)
    .ensureAlpha()
    .extend({ right: width - size.width, bottom: height - size.height, background: { r: 0, g: 0, b: 0, alpha: 0 } })
    .raw()
    .toBuffer();
}
