/** Longest piece of an expression that a message repeats. */
const QUOTED = 200;

/** An expression that cannot be read or evaluated. `message` names the expression, the place and what is wrong. */
export class ExpressionError extends Error {
  override readonly name = 'ExpressionError';
  /** Without the expression and the place, for those who show these themselves. */
  readonly reason: string;
  /** Offset in the expression, from 0, in UTF-16 units. */
  readonly position: number;
  readonly expression: string;

  constructor(expression: string, position: number, reason: string) {
    const quoted = expression.length > QUOTED ? `${expression.slice(0, QUOTED)}…` : expression;
    super(`Expression ${JSON.stringify(quoted)}, position ${position}: ${reason}`);
    this.expression = expression;
    this.position = position;
    this.reason = reason;
  }
}
