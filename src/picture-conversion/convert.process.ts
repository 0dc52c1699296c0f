import { writeFileSync } from 'node:fs';
import { buffer } from 'node:stream/consumers';
import sharp from 'sharp';
import { DAMAGED_EXIT, PIXELS_MAX, SIDE, TOO_LARGE_EXIT } from './limits.ts';

// The program of `convertPicture`: reads a picture from stdin and writes it as WebP to stdout.

// If memory runs out, Linux ends this process before the service. Other systems have no such file.
try {
  writeFileSync('/proc/self/oom_score_adj', '1000');
} catch {
  // The order stays as it is.
}

// Only these decoders, whatever else the library is built with.
sharp.block({ operation: ['VipsForeignLoad'] });
sharp.unblock({
  operation: ['VipsForeignLoadJpegBuffer', 'VipsForeignLoadPngBuffer', 'VipsForeignLoadWebpBuffer'],
});
sharp.cache(false);
sharp.concurrency(1);

process.exitCode = await convert(await buffer(process.stdin));

async function convert(bytes: Buffer): Promise<number> {
  try {
    const { width, height } = await sharp(bytes, { limitInputPixels: false }).metadata();
    if (width * height > PIXELS_MAX) return TOO_LARGE_EXIT;
    // Metadata such as EXIF is dropped, after its orientation was applied.
    const picture = sharp(bytes, { limitInputPixels: PIXELS_MAX, failOn: 'warning', autoOrient: true });
    process.stdout.write(await picture.resize(SIDE, SIDE, { fit: 'cover' }).webp({ quality: 80 }).toBuffer());
    return 0;
  } catch (error) {
    process.stderr.write(String(error));
    return DAMAGED_EXIT;
  }
}
