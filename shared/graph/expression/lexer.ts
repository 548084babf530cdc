import { numberProblem } from '#shared/outside-json.ts';
import { ExpressionError } from './error.ts';

type TokenKind = 'number' | 'string' | 'name' | 'sign' | 'end';

export interface Token {
  kind: TokenKind;
  /** Names and operators as written; for a string, its value. */
  text: string;
  /** The value of a number. */
  value: number;
  position: number;
}

const MAX_EXCERPT = 40;
const SPACE = /\s*/y;
const NUMBER = /\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const NAME = /[\p{L}_$][\p{L}\p{N}_$]*/uy;
const SIGN = /\|\||&&|==|!=|<=|>=|[<>!+\-*/%()[\].,]/y;
const CODE_UNIT = /[0-9a-fA-F]{4}/y;

const ESCAPES: ReadonlyMap<string, string> = new Map([
  ['\\', '\\'],
  ["'", "'"],
  ['"', '"'],
  ['n', '\n'],
  ['r', '\r'],
  ['t', '\t'],
]);

/** Splits an expression into tokens, ending with one of the kind `end`. Throws ExpressionError at an invalid token. */
export function tokenize(source: string): Token[] {
  const tokens: Token[] = [];
  let at = 0;
  const take = (pattern: RegExp): string | undefined => {
    pattern.lastIndex = at;
    return pattern.exec(source)?.[0];
  };
  for (;;) {
    at += take(SPACE)?.length ?? 0;
    const position = at;
    if (at >= source.length) {
      tokens.push({ kind: 'end', text: '', value: 0, position });
      return tokens;
    }
    const first = source[at]!;
    if (first === "'" || first === '"') {
      const string = readString(source, position);
      at = string.end;
      tokens.push({ kind: 'string', text: string.text, value: 0, position });
      continue;
    }
    const number = take(NUMBER);
    if (number !== undefined) {
      at += number.length;
      tokens.push({
        kind: 'number',
        text: number,
        value: readNumber(source, position, number, take(NAME)),
        position,
      });
      continue;
    }
    const name = take(NAME);
    const text = name ?? take(SIGN);
    if (text === undefined) {
      throw new ExpressionError(source, position, unexpected(source, position));
    }
    at += text.length;
    tokens.push({ kind: name === undefined ? 'sign' : 'name', text, value: 0, position });
  }
}

function unexpected(source: string, position: number): string {
  const character = String.fromCodePoint(source.codePointAt(position)!);
  const hint = character === '=' ? ' (write == to compare)' : '';
  return `unexpected ${JSON.stringify(character)}${hint}`;
}

function readNumber(
  source: string,
  position: number,
  digits: string,
  trailing: string | undefined,
): number {
  if (trailing !== undefined) {
    throw new ExpressionError(source, position, `"${digits}${trailing}" is no number`);
  }
  const value = Number(digits);
  if (!Number.isFinite(value)) {
    throw new ExpressionError(source, position, 'the number is too large');
  }
  if (numberProblem(digits) !== undefined) {
    const problem = `no number is exactly ${digits.slice(0, MAX_EXCERPT)}: write it as a string`;
    throw new ExpressionError(source, position, problem);
  }
  return value;
}

// An unknown escape keeps its backslash, as in Python, so that '\d+' is the pattern.
function readString(source: string, position: number): { text: string; end: number } {
  const quote = source[position];
  let text = '';
  for (let at = position + 1; at < source.length; at += 1) {
    const character = source[at]!;
    if (character === quote) return { text, end: at + 1 };
    if (character !== '\\') {
      text += character;
      continue;
    }
    at += 1;
    const escaped = source[at] ?? '';
    CODE_UNIT.lastIndex = at + 1;
    const unit = escaped === 'u' ? CODE_UNIT.exec(source)?.[0] : undefined;
    if (unit === undefined) {
      text += ESCAPES.get(escaped) ?? `\\${escaped}`;
    } else {
      text += String.fromCharCode(parseInt(unit, 16));
      at += 4;
    }
  }
  throw new ExpressionError(source, position, 'the string is not closed');
}
