/** Texts for invalid fields, by the codes of the problem document. */
export const faultTexts = {
  required: 'Required.',
  invalid_type: 'This has the wrong type.',
  invalid_value: 'This value is not accepted.',
  invalid_format: 'This has the wrong format.',
  email: 'Enter an email address, for example name@example.com.',
  min_length: (min: number) => (min <= 1 ? 'Required.' : `Use at least ${min} characters.`),
  max_length: (max: number) => `Use at most ${max} characters.`,
  min_value: (min: number) => `Use at least ${min}.`,
  max_value: (max: number) => `Use at most ${max}.`,
  line: (number: number, fault: string) => `Line ${number}: ${fault}`,
  max_lines: (max: number) => `Use at most ${max} lines.`,
  password: 'This password is too common. Choose another.',
} as const;
