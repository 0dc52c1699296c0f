import { defineTexts } from './define-texts.ts';

/** Texts for invalid fields, by the codes of the problem document. */
export const faultTexts = defineTexts('faults', {
  required: 'Required.',
  invalid_type: 'This has the wrong type.',
  invalid_value: 'This value is not accepted.',
  invalid_format: 'This has the wrong format.',
  email: 'Enter an email address, for example name@example.com.',
  name: 'Use at least one visible character, and only characters of one line of text.',
  min_length: '{min, plural, =0 {Required.} =1 {Required.} other {Use at least # characters.}}',
  max_length: '{max, plural, one {Use at most # character.} other {Use at most # characters.}}',
  min_value: 'Use at least {min, number}.',
  max_value: 'Use at most {max, number}.',
  line: 'Line {number}: {fault}',
  max_lines: '{max, plural, one {Use at most # line.} other {Use at most # lines.}}',
  password: 'This password is too common. Choose another.',
});
