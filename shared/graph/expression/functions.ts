import type { Json } from '#shared/json.ts';
import { MAX_STRING, OperandError, finite, isIn, spendText, type Meter } from './operators.ts';
import { isObject, typeName } from '#shared/graph/json-value.ts';
import { PatternError, matchesPattern } from '#shared/values/pattern.ts';

interface ExpressionFunction {
  /** Its parameters and result, for authors. */
  signature: string;
  /** The minimum and maximum number of arguments. */
  arity: readonly [least: number, most: number];
  apply: (args: Json[], meter: Meter) => Json;
}

/** The maximum decimals of `round`. A double cannot hold more. */
const MAX_DECIMALS = 15;

// Text predicates return false for null, like comparisons, so a missing key is not an error.
const FUNCTIONS: ReadonlyMap<string, ExpressionFunction> = new Map<string, ExpressionFunction>([
  [
    'len',
    {
      signature: '(value) → number',
      arity: [1, 1],
      apply: ([value], meter) => lengthOf(value!, meter),
    },
  ],
  [
    'lower',
    {
      signature: '(text) → text',
      arity: [1, 1],
      apply: ([value], meter) => changeCase('lower', value!, meter),
    },
  ],
  [
    'upper',
    {
      signature: '(text) → text',
      arity: [1, 1],
      apply: ([value], meter) => changeCase('upper', value!, meter),
    },
  ],
  [
    'contains',
    {
      signature: '(list or text, value) → boolean',
      arity: [2, 2],
      apply: ([haystack, needle], meter) => isIn(needle!, haystack!, meter),
    },
  ],
  [
    'starts_with',
    {
      signature: '(text, start) → boolean',
      arity: [2, 2],
      apply: (args, meter) =>
        asks('starts_with', args, meter, (text, piece) => text.startsWith(piece)),
    },
  ],
  [
    'ends_with',
    {
      signature: '(text, end) → boolean',
      arity: [2, 2],
      apply: (args, meter) => asks('ends_with', args, meter, (text, piece) => text.endsWith(piece)),
    },
  ],
  [
    'matches',
    {
      signature: '(text, pattern) → boolean',
      arity: [2, 2],
      apply: (args, meter) => asks('matches', args, meter, matches(meter)),
    },
  ],
  [
    'abs',
    {
      signature: '(number) → number',
      arity: [1, 1],
      apply: ([value]) => Math.abs(number('abs', value!)),
    },
  ],
  [
    'min',
    {
      signature: '(list) or (value, …) → value',
      arity: [1, Infinity],
      apply: (args, meter) => extreme('min', args, meter, (value, best) => value < best),
    },
  ],
  [
    'max',
    {
      signature: '(list) or (value, …) → value',
      arity: [1, Infinity],
      apply: (args, meter) => extreme('max', args, meter, (value, best) => value > best),
    },
  ],
  [
    'round',
    {
      signature: '(number, decimals = 0) → number',
      arity: [1, 2],
      apply: ([value, decimals]) => round(value!, decimals ?? 0),
    },
  ],
  [
    'default',
    {
      signature: '(value, fallback) → value',
      arity: [2, 2],
      apply: ([value, fallback]) => value ?? fallback!,
    },
  ],
]);

/** How many arguments a function takes; undefined for an unknown name. */
export function functionArity(name: string): readonly [least: number, most: number] | undefined {
  return FUNCTIONS.get(name)?.arity;
}

/** The functions of the language by name, with their parameters and result as a text. */
export const functionSignatures: ReadonlyMap<string, string> = new Map(
  [...FUNCTIONS].map(([name, { signature }]) => [name, signature]),
);

/** Calls an existing function with a valid number of arguments. Throws OperandError for unsupported types. */
export function callFunction(name: string, args: Json[], meter: Meter): Json {
  return FUNCTIONS.get(name)!.apply(args, meter);
}

function wrongType(name: string, ...values: Json[]): never {
  throw new OperandError(`${name} cannot take ${values.map(typeName).join(' and ')}`);
}

function number(name: string, value: Json): number {
  return typeof value === 'number' ? value : wrongType(name, value);
}

// Text is counted in code points, so that an emoji counts as one.
function lengthOf(value: Json, meter: Meter): number {
  if (value === null) return 0;
  if (Array.isArray(value)) return value.length;
  if (isObject(value)) {
    const { length } = Object.keys(value);
    spendText(meter, length * 10);
    return length;
  }
  if (typeof value !== 'string') return wrongType('len', value);
  spendText(meter, value.length);
  let length = value.length;
  for (let at = 0; at < value.length; at += 1) {
    if (value.codePointAt(at)! > 0xffff) {
      length -= 1;
      at += 1;
    }
  }
  return length;
}

function changeCase(name: 'lower' | 'upper', value: Json, meter: Meter): string | null {
  if (value === null) return null;
  if (typeof value !== 'string') return wrongType(name, value);
  spendText(meter, value.length);
  const changed = name === 'lower' ? value.toLowerCase() : value.toUpperCase();
  if (changed.length > Math.max(MAX_STRING, value.length)) {
    throw new OperandError(`the text passes ${MAX_STRING} characters`);
  }
  return changed;
}

function asks(
  name: string,
  args: Json[],
  meter: Meter,
  question: (text: string, piece: string) => boolean,
): boolean {
  const [text, piece] = args as [Json, Json];
  if (text === null && (piece === null || typeof piece === 'string')) return false;
  if (typeof text !== 'string' || typeof piece !== 'string') return wrongType(name, text, piece);
  spendText(meter, piece.length);
  return question(text, piece);
}

function matches(meter: Meter): (text: string, pattern: string) => boolean {
  return (text, pattern) => {
    try {
      return matchesPattern(text, pattern, { budget: meter.budget });
    } catch (error) {
      if (error instanceof PatternError) throw new OperandError(error.message);
      throw error;
    }
  };
}

function extreme(
  name: string,
  args: Json[],
  meter: Meter,
  beats: (value: number | string, best: number | string) => boolean,
): Json {
  const [only] = args;
  const values = args.length === 1 && Array.isArray(only) ? only : args;
  let best: number | string | null = null;
  for (const value of values) {
    if (typeof value !== 'number' && typeof value !== 'string') return wrongType(name, value);
    if (best !== null && typeof best !== typeof value) return wrongType(name, best, value);
    spendText(meter, typeof value === 'string' ? 1 + value.length : 1);
    if (best === null || beats(value, best)) best = value;
  }
  return best;
}

// Halves round away from zero. The decimal point is moved in the text, because 1.005 * 100 is 100.49999999999999.
function round(value: Json, decimals: Json): number {
  if (typeof value !== 'number' || typeof decimals !== 'number') {
    return wrongType('round', value, decimals);
  }
  if (!Number.isInteger(decimals) || decimals < 0 || decimals > MAX_DECIMALS) {
    throw new OperandError(`round takes 0 to ${MAX_DECIMALS} decimals`);
  }
  const size = shift(Math.round(shift(Math.abs(value), decimals)), -decimals);
  return finite(Number.isFinite(size) ? Math.sign(value) * size : value);
}

function shift(value: number, places: number): number {
  const [digits, exponent = '0'] = String(value).split('e');
  return Number(`${digits}e${Number(exponent) + places}`);
}
