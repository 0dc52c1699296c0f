import { definePageTexts } from './define-page-texts.ts';

/** Texts about the pictures of accounts and teams. */
export const pictureTexts = definePageTexts('pictures', {
  label: 'Picture',
  hint: 'JPEG, PNG or WebP, at most 2 MB. It is cut to a square.',
  choose: 'Choose picture…',
  replace: 'Replace picture…',
  remove: 'Remove picture',
  url: 'Picture URL',
  urlHint: 'The picture is fetched once and stored here.',
  urlRefused: 'Enter a whole URL that begins with https://.',
  fetch: 'Fetch picture',
  sending: 'Uploading, {percent, number} %',
  processing: 'Processing the picture…',
  saved: 'Picture saved.',
  removed: 'Picture removed.',
  wrongType: { title: 'Picture not accepted', detail: 'Choose a JPEG, PNG or WebP file.' },
  tooLarge: { title: 'Picture not accepted', detail: 'The file is larger than 2 MB. Choose a smaller one.' },
});
