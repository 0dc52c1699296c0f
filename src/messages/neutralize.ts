/** Line ends and other controls; characters that change the direction of text; those that show nothing, except joiners. */
const CONTROLS = /[\p{Cc}\p{Zl}\p{Zp}]+/gu;
const INVISIBLE =
  /[\p{Bidi_Control}\u2800\u3164\u115f\u1160\uffa0\u{1d159}\u{16fe4}\u{13441}\u{13442}\ufffc]|(?!\u200c|\u200d|\ufe0e|\ufe0f)\p{Default_Ignorable_Code_Point}/gu;

/** Marks alone show nothing, nor do these: fillers, blanks of notations and scripts, and the place of an object. */
const VISIBLE =
  /(?![\p{Default_Ignorable_Code_Point}\u2800\u{1d159}\u{16fe4}\u{13441}\u{13442}\ufffc])[\p{L}\p{N}\p{P}\p{S}]/u;

/** Whether a text has a letter, number, punctuation mark or symbol that shows. */
export const showsSomething = (value: string): boolean => VISIBLE.test(value);

/** Removes what would let a value that a user chose reorder, hide or break the text around it. */
export const neutralize = (value: string): string => value.replace(CONTROLS, ' ').replace(INVISIBLE, '');

/** The same for a text of several lines. */
export const neutralizeLines = (value: string): string => value.split('\n').map(neutralize).join('\n');

const toCodePoints = (characters: string): string =>
  Array.from(characters, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`).join('');

/** Replaces the same characters by their code points, for a terminal: it would obey some of them. */
export const toVisible = (value: string): string =>
  value.replace(CONTROLS, toCodePoints).replace(INVISIBLE, toCodePoints);

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
  json.replace(UNESCAPED_CONTROLS, escape).replace(INVISIBLE, escape);
