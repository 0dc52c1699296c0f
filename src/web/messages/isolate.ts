/** The first strong isolate and its end (Unicode, annex 9): text between them does not reorder the text around it. */
const [ISOLATE, END] = ['\u2068', '\u2069'];

const RIGHT_TO_LEFT = /[\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}]/u;

/** Isolates a name that is written from right to left, as `bdi` does for names that stand alone. */
export const isolateName = (name: string): string => (RIGHT_TO_LEFT.test(name) ? ISOLATE + name + END : name);
