/** What is wrong with a field, by the codes of the problem document. */
export const faultTexts = {
  required: 'Fill this in.',
  invalid_type: 'This is not of the right kind.',
  invalid_value: 'This cannot be used. Choose something else.',
  invalid_format: 'This is not in the right form.',
  email: 'Enter an e-mail address, such as name@example.com.',
  min_length: (min: number) => (min <= 1 ? 'Fill this in.' : `Use at least ${min} characters.`),
  max_length: (max: number) => `Use at most ${max} characters.`,
  min_value: (min: number) => `Use at least ${min}.`,
  max_value: (max: number) => `Use at most ${max}.`,
  line: (number: number, fault: string) => `Line ${number}: ${fault}`,
  max_lines: (max: number) => `Use at most ${max} lines.`,
  password: 'This password is too easy to guess. Choose another.',
} as const;
