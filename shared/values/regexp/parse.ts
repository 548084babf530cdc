import { Characters } from './characters.ts';

/** A parsed pattern. Groups do not capture: the whole match is all that counts. */
export type Part =
  | { kind: 'character'; set: Characters }
  | { kind: 'assertion'; source: '^' | '$' | '\\b' | '\\B' }
  | { kind: 'sequence'; of: Part[] }
  | { kind: 'either'; of: Part[] }
  | { kind: 'repeat'; of: Part; min: number; max: number; lazy: boolean };

/** Thrown by the parser for syntax that it does not translate. */
class UnknownSyntax extends Error {
  override readonly name = 'UnknownSyntax';
}

const NEWLINE = Characters.of([[0x0a, 0x0a]]);
const DIGIT = Characters.of([[0x30, 0x39]]);
export const WORD = Characters.of([
  [0x30, 0x39],
  [0x41, 0x5a],
  [0x5f, 0x5f],
  [0x61, 0x7a],
]);
const SPACE = Characters.of([
  [0x09, 0x0a],
  [0x0c, 0x0d],
  [0x20, 0x20],
]);
const CLASSES: Readonly<Record<string, Characters>> = {
  d: DIGIT,
  D: DIGIT.negated(),
  w: WORD,
  W: WORD.negated(),
  s: SPACE,
  S: SPACE.negated(),
};
const CONTROLS: Readonly<Record<string, number>> = { t: 0x09, n: 0x0a, v: 0x0b, f: 0x0c, r: 0x0d };

/**
 * Parses the part of RE2's syntax that has the same meaning in JavaScript. Undefined for everything else. The pattern
 * must be valid: RE2 has compiled it.
 */
export const parsePattern = (pattern: string, ignoreCase: boolean): Part | undefined =>
  new Parser(pattern, ignoreCase).parse();

class Parser {
  private rest: string[];
  private ignoreCase: boolean;

  constructor(pattern: string, ignoreCase: boolean) {
    const flag = '(?i)';
    const hasFlag = pattern.startsWith(flag);
    this.rest = [...(hasFlag ? pattern.slice(flag.length) : pattern)].toReversed();
    this.ignoreCase = ignoreCase || hasFlag;
  }

  parse(): Part | undefined {
    try {
      const whole = this.either();
      return this.rest.length === 0 ? whole : undefined;
    } catch (error) {
      if (error instanceof UnknownSyntax) return undefined;
      throw error;
    }
  }

  private get next(): string | undefined {
    return this.rest.at(-1);
  }

  private take(): string {
    const character = this.rest.pop();
    if (character === undefined) throw new UnknownSyntax();
    return character;
  }

  private takeIf(character: string): boolean {
    if (this.next !== character) return false;
    this.rest.pop();
    return true;
  }

  private either(): Part {
    const of = [this.sequence()];
    while (this.takeIf('|')) of.push(this.sequence());
    return joined('either', of);
  }

  private sequence(): Part {
    const of: Part[] = [];
    while (this.next !== undefined && this.next !== '|' && this.next !== ')') {
      of.push(this.repeated(this.part()));
    }
    return joined('sequence', of);
  }

  private part(): Part {
    const character = this.take();
    switch (character) {
      case '(':
        return this.group();
      case '[':
        return { kind: 'character', set: this.set() };
      case '.':
        return { kind: 'character', set: NEWLINE.negated() };
      case '^':
      case '$':
        return { kind: 'assertion', source: character };
      case '\\':
        return this.escape();
      default:
        if ('*+?{}]'.includes(character)) throw new UnknownSyntax();
        return this.literal(character);
    }
  }

  private literal(character: string): Part {
    return { kind: 'character', set: this.cased(Characters.single(character.codePointAt(0) ?? 0)) };
  }

  private group(): Part {
    if (this.takeIf('?') && !this.takeIf(':')) throw new UnknownSyntax();
    const inner = this.either();
    if (!this.takeIf(')')) throw new UnknownSyntax();
    return inner;
  }

  private escape(): Part {
    if (this.next === 'b' || this.next === 'B') {
      return { kind: 'assertion', source: `\\${this.take() as 'b' | 'B'}` };
    }
    return { kind: 'character', set: this.escapedSet() };
  }

  private escapedSet(): Characters {
    const character = this.take();
    const known = CLASSES[character];
    if (known !== undefined) {
      // RE2 folds the case of a class before it negates it. Digits and spaces have no case.
      if (character === 'W' && this.ignoreCase) throw new UnknownSyntax();
      return /[DWS]/.test(character) ? known : this.cased(known);
    }
    return this.cased(Characters.single(escapedCode(character)));
  }

  private set(): Characters {
    const negate = this.takeIf('^');
    const items = [this.setItem(true)];
    while (this.next !== ']') items.push(this.setItem(false));
    this.take();
    const cased = this.cased(Characters.union(items));
    return negate ? cased.negated() : cased;
  }

  private setItem(first: boolean): Characters {
    const character = this.take();
    if (character === '[' || character === ']') throw new UnknownSyntax();
    if (character === '\\' && CLASSES[this.next ?? ''] !== undefined) return this.escapedSet();
    if (character === '-' && !first && this.next !== ']') throw new UnknownSyntax();
    const low = this.setCode(character);
    if (this.next !== '-' || this.rest.at(-2) === ']') return Characters.single(low);
    this.take();
    const high = this.take();
    if ('[]'.includes(high)) throw new UnknownSyntax();
    return Characters.of([[low, this.setCode(high)]]);
  }

  private setCode(character: string): number {
    return character === '\\' ? escapedCode(this.take()) : (character.codePointAt(0) ?? 0);
  }

  /**
   * Adds every other case of its characters. Supports only ASCII letters, because in other scripts, a case can have
   * several characters.
   */
  private cased(set: Characters): Characters {
    if (!this.ignoreCase) return set;
    if (set.last > 0x7f) throw new UnknownSyntax();
    return set.withAsciiCases();
  }

  private repeated(part: Part): Part {
    const range = this.quantifier();
    if (range === undefined) return part;
    if (part.kind === 'assertion' || isNullable(part)) throw new UnknownSyntax();
    const lazy = this.takeIf('?');
    if (this.next !== undefined && '*+?{'.includes(this.next)) throw new UnknownSyntax();
    return { kind: 'repeat', of: part, ...range, lazy };
  }

  private quantifier(): { min: number; max: number } | undefined {
    if (this.takeIf('*')) return { min: 0, max: Infinity };
    if (this.takeIf('+')) return { min: 1, max: Infinity };
    if (this.takeIf('?')) return { min: 0, max: 1 };
    if (!this.takeIf('{')) return undefined;
    let inner = '';
    while (this.next !== '}') inner += this.take();
    this.take();
    const written = /^(\d{1,4})(,(\d{1,4})?)?$/.exec(inner);
    if (written === null) throw new UnknownSyntax();
    const [, min = '', comma, max] = written;
    return {
      min: Number(min),
      max: comma === undefined ? Number(min) : Number(max ?? Infinity),
    };
  }
}

/** A single part needs no wrapper. */
const joined = (kind: 'either' | 'sequence', of: Part[]): Part =>
  of.length === 1 ? of[0]! : { kind, of };

function escapedCode(character: string): number {
  const control = CONTROLS[character];
  if (control !== undefined) return control;
  if (!/^[!-/:-@[-`{-~]$/.test(character)) throw new UnknownSyntax();
  return character.codePointAt(0) ?? 0;
}

/** Whether the part can match the empty text. */
export function isNullable(part: Part): boolean {
  switch (part.kind) {
    case 'character':
      return false;
    case 'assertion':
      return true;
    case 'sequence':
      return part.of.every(isNullable);
    case 'either':
      return part.of.some(isNullable);
    case 'repeat':
      return part.min === 0;
  }
}

/** The part as a JavaScript expression for the flag `u`. */
export function sourceOf(part: Part): string {
  switch (part.kind) {
    case 'character':
      return part.set.source();
    case 'assertion':
      return part.source;
    case 'sequence':
      return part.of.map(sourceOf).join('');
    case 'either':
      return `(?:${part.of.map(sourceOf).join('|')})`;
    case 'repeat': {
      const { min, max, lazy } = part;
      const range = max === Infinity ? `{${min},}` : `{${min},${max}}`;
      const each = sourceOf(part.of);
      return `${part.of.kind === 'character' ? each : `(?:${each})`}${range}${lazy ? '?' : ''}`;
    }
  }
}
