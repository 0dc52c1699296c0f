/** Latin letters with their Greek and Cyrillic homoglyphs, separately for each case if the cases differ. */
const LOOK_ALIKES: Readonly<Record<string, string>> = {
  a: 'ΑαАаɑ',
  b: 'ΒβВвЬь',
  c: 'ϹϲСсᴄ',
  d: 'Ԁԁ',
  e: 'ΕεЕеЄє',
  g: 'Ԍԍɡ',
  h: 'ΗНнҺһ',
  j: 'ͿϳЈј',
  k: 'ΚκКк',
  l: '1iıɩɪІіΙιӀӏ|ǀ',
  m: 'ΜМм',
  n: 'Νη',
  o: '0ΟοσОоᴏ',
  p: 'ΡρРр',
  q: 'Ԛԛ',
  r: 'ΓГг',
  s: 'Ѕѕꜱ',
  t: 'ΤτТт',
  u: 'υμᴜ',
  v: 'νѴѵᴠ',
  w: 'ωѠѡԜԝᴡ',
  x: 'ΧχХх',
  y: 'ΥγУуҮүҰұ',
  z: 'Ζζᴢ',
  3: 'Зз',
  λ: 'ΛЛл',
  π: 'ΠПп',
  φ: 'ΦФф',
};

const LATIN = new Map(
  Object.entries(LOOK_ALIKES).flatMap(([latin, others]) => Array.from(others, (other) => [other, latin] as const)),
);

/** Removes compatibility variants, invisible characters and repeated white space. */
const plain = (name: string): string =>
  name
    .normalize('NFKC')
    .replaceAll(/\p{Default_Ignorable_Code_Point}/gu, '')
    .replaceAll(/\s+/gu, ' ')
    .trim();

const foldCase = (name: string): string => name.toUpperCase().toLowerCase().replaceAll('ς', 'σ').normalize('NFKC');

const latin = (name: string): string => Array.from(name, (character) => LATIN.get(character) ?? character).join('');

/** Returns the comparison key of a name. Names that look alike have the same skeleton. */
export const roleNameSkeleton = (name: string): string => latin(foldCase(latin(plain(latin(name)))));

/** Returns whether two names look alike or differ only in case. */
export const looksLike = (one: string, other: string): boolean =>
  roleNameSkeleton(one) === roleNameSkeleton(other) || foldCase(plain(one)) === foldCase(plain(other));
