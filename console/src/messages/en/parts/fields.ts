/** Errors in a text that should be JSON. */
export const jsonMistakes = {
  noObject: 'Enter a JSON object',
  noObjectLike: 'Enter a JSON object, like {"note": "fine"}',
  invalid: (reason: string) => `Invalid JSON: ${reason}`,
} as const;

/** Messages for a state that can be edited. */
export const changedState = {
  state: 'State',
  changes: 'State changes',
  noRemoval: (key: string) => `A key cannot be removed: set “${key}” to null.`,
} as const;

/** Messages for forms for values with a schema. */
export const schemaForm = {
  about: 'A JSON object',
  asForm: 'Edit as form',
  asJson: 'Edit as JSON',
  required: 'This field is required',
  isRequired: (field: string) => `${field} is required.`,
  problem: (field: string, problem: string) => `${field} ${problem}.`,
} as const;

/** Messages for a secret that is shown once. */
export const secretOnce = {
  copyNow: 'Copy this secret now. You will not be able to see it again.',
  secret: 'the secret',
  example: 'Example:',
  command: 'the command',
} as const;
