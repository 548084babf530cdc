import type { BinaryOperator } from '#shared/graph/expression/operators.ts';
import { ExpressionError } from './error.ts';
import { functionArity } from './functions.ts';
import { tokenize, type Token } from './lexer.ts';

const MAX_EXPRESSION_LENGTH = 2000;
const MAX_EXPRESSION_NODES = 256;
/** Nesting depth of brackets, calls and prefixes; a chain of operators is flat. */
const MAX_EXPRESSION_DEPTH = 32;

export type AstNode =
  | { type: 'literal'; value: null | boolean | number | string; position: number }
  | { type: 'list'; items: AstNode[]; position: number }
  | { type: 'name'; name: string; position: number }
  | { type: 'member'; object: AstNode; key: AstNode; position: number }
  | { type: 'prefix'; operator: 'not' | '-'; operand: AstNode; position: number }
  | { type: 'binary'; operator: BinaryOperator; left: AstNode; right: AstNode; position: number }
  | { type: 'call'; name: string; args: AstNode[]; position: number };

/** A parsed expression. Plain data: it can be stored and evaluated any number of times. */
export interface Ast {
  source: string;
  root: AstNode;
  /** The top-level keys that it reads, each once, in order of appearance. */
  roots: string[];
  /** The position of the first read of each key, in the same order. */
  positions: number[];
}

// Binding powers, loosest first. All operators are left-associative.
const NOT_POWER = 3;
const NEGATE_POWER = 7;
const BINARY: ReadonlyMap<string, { operator: BinaryOperator; power: number }> = new Map([
  ['or', { operator: 'or', power: 1 }],
  ['||', { operator: 'or', power: 1 }],
  ['and', { operator: 'and', power: 2 }],
  ['&&', { operator: 'and', power: 2 }],
  ...(['==', '!=', '<', '<=', '>', '>=', 'in'] as const).map(
    (operator): [string, { operator: BinaryOperator; power: number }] => [
      operator,
      { operator, power: 4 },
    ],
  ),
  ['+', { operator: '+', power: 5 }],
  ['-', { operator: '-', power: 5 }],
  ['*', { operator: '*', power: 6 }],
  ['/', { operator: '/', power: 6 }],
  ['%', { operator: '%', power: 6 }],
]);

const CONSTANTS: ReadonlyMap<string, null | boolean> = new Map([
  ['true', true],
  ['True', true],
  ['false', false],
  ['False', false],
  ['null', null],
  ['None', null],
]);

const WORDS: ReadonlySet<string> = new Set(['or', 'and', 'not', 'in']);

interface Parser {
  source: string;
  tokens: Token[];
  next: number;
  nodes: number;
  depth: number;
  /** With the position of the first use. */
  roots: Map<string, number>;
}

/** Parses without any cache; see `parseExpression`. */
export function parseSource(source: string): Ast {
  if (source.length > MAX_EXPRESSION_LENGTH) {
    throw new ExpressionError(
      source,
      MAX_EXPRESSION_LENGTH,
      `longer than ${MAX_EXPRESSION_LENGTH} characters`,
    );
  }
  const parser: Parser = {
    source,
    tokens: tokenize(source),
    next: 0,
    nodes: 0,
    depth: 0,
    roots: new Map(),
  };
  if (peek(parser).kind === 'end') fail(parser, peek(parser), 'the expression is empty');
  const root = parseOperators(parser, 0);
  if (peek(parser).kind !== 'end') {
    fail(parser, peek(parser), `unexpected ${describe(peek(parser))}`);
  }
  const { roots } = parser;
  return { source, root, roots: [...roots.keys()], positions: [...roots.values()] };
}

function fail(parser: Parser, token: Token, reason: string): never {
  throw new ExpressionError(parser.source, token.position, reason);
}

function describe(token: Token): string {
  return token.kind === 'end' ? 'end' : JSON.stringify(token.text);
}

function peek(parser: Parser, ahead = 0): Token {
  return parser.tokens[Math.min(parser.next + ahead, parser.tokens.length - 1)]!;
}

function take(parser: Parser): Token {
  const token = peek(parser);
  parser.next += 1;
  return token;
}

function isSign(token: Token, text: string): boolean {
  return token.kind === 'sign' && token.text === text;
}

function expect(parser: Parser, sign: string): void {
  const token = take(parser);
  if (!isSign(token, sign)) fail(parser, token, `expected "${sign}" but found ${describe(token)}`);
}

function count<Node extends AstNode>(parser: Parser, node: Node): Node {
  parser.nodes += 1;
  if (parser.nodes > MAX_EXPRESSION_NODES) {
    throw new ExpressionError(
      parser.source,
      node.position,
      `more than ${MAX_EXPRESSION_NODES} parts`,
    );
  }
  return node;
}

function nested<Result>(parser: Parser, parse: () => Result): Result {
  parser.depth += 1;
  if (parser.depth > MAX_EXPRESSION_DEPTH) {
    fail(parser, peek(parser), `nested deeper than ${MAX_EXPRESSION_DEPTH} levels`);
  }
  const result = parse();
  parser.depth -= 1;
  return result;
}

/** The operator at the cursor, with its length in tokens. */
function operatorAt(
  parser: Parser,
): { operator: BinaryOperator; power: number; width: number } | undefined {
  const token = peek(parser);
  if (token.kind !== 'sign' && token.kind !== 'name') return undefined;
  if (token.kind === 'name' && token.text === 'not') {
    const after = peek(parser, 1);
    return after.kind === 'name' && after.text === 'in'
      ? { operator: 'not in', power: 4, width: 2 }
      : undefined;
  }
  const found = BINARY.get(token.text);
  return found && { ...found, width: 1 };
}

function parseOperators(parser: Parser, power: number): AstNode {
  let left = parsePrefix(parser);
  for (;;) {
    const found = operatorAt(parser);
    if (found === undefined || found.power <= power) return left;
    const { position } = peek(parser);
    parser.next += found.width;
    const right = parseOperators(parser, found.power);
    left = count(parser, { type: 'binary', operator: found.operator, left, right, position });
  }
}

function parsePrefix(parser: Parser): AstNode {
  const token = peek(parser);
  const isNot = isSign(token, '!') || (token.kind === 'name' && token.text === 'not');
  if (!isNot && !isSign(token, '-')) return parsePath(parser);
  take(parser);
  const operand = nested(parser, () => parseOperators(parser, isNot ? NOT_POWER : NEGATE_POWER));
  return count(parser, {
    type: 'prefix',
    operator: isNot ? 'not' : '-',
    operand,
    position: token.position,
  });
}

function parsePath(parser: Parser): AstNode {
  let node = parsePrimary(parser);
  for (;;) {
    const token = peek(parser);
    if (isSign(token, '.')) {
      take(parser);
      const name = take(parser);
      if (name.kind !== 'name') {
        fail(parser, name, `expected a name after "." but found ${describe(name)}`);
      }
      if (isSign(peek(parser), '(')) fail(parser, peek(parser), 'values have no methods');
      const key: AstNode = { type: 'literal', value: name.text, position: name.position };
      node = count(parser, { type: 'member', object: node, key, position: token.position });
    } else if (isSign(token, '[')) {
      take(parser);
      const key = nested(parser, () => parseOperators(parser, 0));
      expect(parser, ']');
      node = count(parser, { type: 'member', object: node, key, position: token.position });
    } else {
      return node;
    }
  }
}

function parsePrimary(parser: Parser): AstNode {
  const token = take(parser);
  const { position } = token;
  if (token.kind === 'number') {
    return count(parser, { type: 'literal', value: token.value, position });
  }
  if (token.kind === 'string') {
    return count(parser, { type: 'literal', value: token.text, position });
  }
  if (isSign(token, '(')) {
    const inner = nested(parser, () => parseOperators(parser, 0));
    expect(parser, ')');
    return inner;
  }
  if (isSign(token, '[')) {
    return count(parser, { type: 'list', items: parseItems(parser, ']'), position });
  }
  if (token.kind !== 'name' || WORDS.has(token.text)) {
    fail(parser, token, `expected a value but found ${describe(token)}`);
  }
  const constant = CONSTANTS.get(token.text);
  if (constant !== undefined) return count(parser, { type: 'literal', value: constant, position });
  if (isSign(peek(parser), '(')) return parseCall(parser, token);
  if (!parser.roots.has(token.text)) parser.roots.set(token.text, position);
  return count(parser, { type: 'name', name: token.text, position });
}

function parseItems(parser: Parser, close: string): AstNode[] {
  return nested(parser, () => {
    const items: AstNode[] = [];
    while (!isSign(peek(parser), close)) {
      items.push(parseOperators(parser, 0));
      if (!isSign(peek(parser), ',')) break;
      take(parser);
    }
    expect(parser, close);
    return items;
  });
}

function parseCall(parser: Parser, name: Token): AstNode {
  const arity = functionArity(name.text);
  if (arity === undefined) fail(parser, name, `there is no function ${JSON.stringify(name.text)}`);
  take(parser);
  const args = parseItems(parser, ')');
  const [least, most] = arity;
  if (args.length < least || args.length > most) {
    const wanted =
      least === most ? `${least}` : most === Infinity ? `at least ${least}` : `${least} or ${most}`;
    fail(
      parser,
      name,
      `${name.text} takes ${wanted} argument${wanted === '1' ? '' : 's'}, not ${args.length}`,
    );
  }
  return count(parser, { type: 'call', name: name.text, args, position: name.position });
}
