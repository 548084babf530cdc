/** Messages for the test of an expression. */
export const expressionTester = {
  about:
    'Evaluate an expression of a condition or loop against a state. This runs in your browser and sends no data.',
  state: 'State (JSON)',
} as const;

/** Messages for an expression and its value. */
export const expressionBench = {
  expression: 'Expression',
  invalidState: 'Invalid state',
  errorAt: (position: string) => `Error at position ${position}`,
  isTrue: 'Evaluates to true in a condition',
  isFalse: 'Evaluates to false in a condition',
  theValue: 'the value',
  reads: 'Reads {names}',
  notAnObject: 'Enter a JSON object.',
} as const;
