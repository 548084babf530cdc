/** The maximum length of an expression quoted in a message. */
const QUOTED = 200;

/**
 * An expression that cannot be parsed or evaluated. `message` contains the expression, the position and the problem.
 */
export class ExpressionError extends Error {
  override readonly name = 'ExpressionError';
  /** The problem without the expression and the position, for callers that show these separately. */
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
