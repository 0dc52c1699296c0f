/** Emoji flags of regions, such as Scotland: the code of the region in tag characters, and the one that closes them. */
const FLAG = /\u{1f3f4}[\u{e0030}-\u{e0039}\u{e0061}-\u{e007a}]{3,6}\u{e007f}/gu;

/** Line ends and other controls. */
const CONTROLS = /[\p{Cc}\p{Zl}\p{Zp}]+/gu;
/** Characters that change the direction of text, and those that show nothing, except what belongs to spelling: joiners. */
const HIDDEN =
  /[\p{Bidi_Control}\u2800\u3164\u115f\u1160\uffa0\u{1d159}\u{16fe4}\u{13441}\u{13442}\ufff9-\ufffc]|(?!\u200c|\u200d|\ufe0e|\ufe0f)\p{Default_Ignorable_Code_Point}/u;
/** The first group is a flag, whose tags are not hidden. */
const INVISIBLE = new RegExp(`(${FLAG.source})|${HIDDEN.source}`, 'gu');

/** Marks alone show nothing, nor do these: fillers, blanks of notations and scripts, and the place of an object. */
const VISIBLE =
  /(?![\p{Default_Ignorable_Code_Point}\u2800\u{1d159}\u{16fe4}\u{13441}\u{13442}\ufffc])[\p{L}\p{N}\p{P}\p{S}]/u;

/** Whether a text has a letter, number, punctuation mark or symbol that shows. */
export const showsSomething = (value: string): boolean => VISIBLE.test(value);

/** Whether tag characters are in no flag, where they show nothing. */
export const hasStrayTags = (value: string): boolean => /[\u{e0000}-\u{e007f}]/u.test(value.replace(FLAG, ''));

/** Removes what would let a value that a user chose reorder, hide or break the text around it. */
export const neutralize = (value: string): string => value.replace(CONTROLS, ' ').replace(INVISIBLE, '$1');

/** The same for a text of several lines. */
export const neutralizeLines = (value: string): string => value.split('\n').map(neutralize).join('\n');

/** Creates a replacer that keeps flags. */
const exceptFlags =
  (replace: (characters: string) => string) =>
  (characters: string, flag?: string): string =>
    flag ?? replace(characters);

const toCodePoints = (characters: string): string =>
  Array.from(characters, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`).join('');

/** Replaces the same characters by their code points, for a terminal: it would obey some of them. */
export const toVisible = (value: string): string =>
  value.replace(CONTROLS, toCodePoints).replace(INVISIBLE, exceptFlags(toCodePoints));

/** Everything that looks like a quotation mark, except apostrophes. */
const QUOTATION_MARKS = /(?!['‘’])[\p{Quotation_Mark}❛-❠❮❯〈-》≪≫]/gu;

/** Replaces the marks with which a quoted value could end the quotation. */
export const replaceQuotationMarks = (value: string): string => value.replace(QUOTATION_MARKS, "'");

const escape = (characters: string): string =>
  Array.from({ length: characters.length }, (_, at) => characters.charCodeAt(at))
    .map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`)
    .join('');

/** What JSON does not escape itself. */
const UNESCAPED_CONTROLS = /[\u007f-\u009f\p{Zl}\p{Zp}]/gu;

/** Escapes in JSON what would reorder, hide or break text, so that it shows and parses to the same value. */
export const toReadableJson = (json: string): string =>
  json.replace(UNESCAPED_CONTROLS, escape).replace(INVISIBLE, exceptFlags(escape));
