/** The largest picture that is accepted, in bytes. */
export const PICTURE_BYTES_MAX = 2 * 1024 * 1024;

/** The largest picture that is decoded. Its width and height are read before. */
export const PIXELS_MAX = 25_000_000;

/** Width and height of the pictures that are kept, in pixels. */
export const SIDE = 256;

/** Exit codes of the program that converts pictures. */
export const DAMAGED_EXIT = 10;
export const TOO_LARGE_EXIT = 11;
