import {
  acceptCompletion,
  autocompletion,
  type Completion,
  type CompletionContext,
  type CompletionResult,
} from '@codemirror/autocomplete';
import { syntaxTree } from '@codemirror/language';
import { Prec, type Extension } from '@codemirror/state';
import { type EditorView, keymap } from '@codemirror/view';
import { shortValues as texts } from '#console/src/messages/en/parts/code.ts';
import { shortValue } from './short-value.ts';

/** A name that a text can read. */
export interface KnownName {
  name: string;
  /** Where it comes from, like `input` or the id of a node. */
  from: string;
  /** An example; undefined if none is known. */
  value: unknown;
}

/** What a text can contain. */
export interface Completable {
  names: readonly KnownName[];
  /** The functions of expressions, with their signatures. */
  functions: ReadonlyMap<string, string>;
  /** Texts that are offered while the field is otherwise empty. */
  values?: readonly string[];
}

/** `template`: references are in braces. `json`: in braces within strings. `expression`: anywhere except in strings. Code: after the argument of its function. */
export type CompletedLanguage = 'template' | 'json' | 'expression' | 'javascript' | 'typescript';

const IDENTIFIER = /^[\p{L}_$][\p{L}\p{N}_$]*$/u;
/** A reference up to the cursor: names, and indexes of lists. */
const PATH = /(?<![\p{L}\p{N}_$.'"])[\p{L}_$][\p{L}\p{N}_$-]*(?:\.[\p{L}\p{N}_$-]*|\[\d+\])*$/u;
const EXPRESSION_PATH =
  /(?<![\p{L}\p{N}_$.'"])[\p{L}_$][\p{L}\p{N}_$]*(?:\.[\p{L}\p{N}_$]*|\[\d+\])*$/u;
const STILL = /^[\p{L}\p{N}_$]*$/u;
/** Parts of values that are offered with a name, so that users find them without knowing their path. */
const MOST_PARTS = 100;

/** A list of names while the member types, and for Ctrl+Space. `known` is called each time. */
export function completion(
  language: CompletedLanguage,
  known: () => Completable | undefined,
): Extension {
  const source = (context: CompletionContext): CompletionResult | null => {
    const completable = known();
    return completable === undefined ? null : complete(language, completable, context);
  };
  return [
    // Without the delay after the list opens, during which Tab would leave the field.
    autocompletion({ override: [source], icons: false, interactionDelay: 0 }),
    // Without an open list, Tab leaves the field.
    Prec.highest(keymap.of([{ key: 'Tab', run: acceptCompletion }])),
  ];
}

function complete(
  language: CompletedLanguage,
  { names, functions, values = [] }: Completable,
  context: CompletionContext,
): CompletionResult | null {
  if (values.length > 0 && /^\w*$/.test(context.state.doc.toString())) {
    return { from: 0, options: values.map((label) => ({ label })), validFor: STILL };
  }
  if (language === 'javascript' || language === 'typescript') return inCode(names, context);
  const path = pathBefore(language, context);
  if (path === undefined) return null;
  const at = path.lastIndexOf('.');
  const from = context.pos - (path.length - at - 1);
  const braces = language !== 'expression';
  if (at !== -1) {
    const options = partsOf(valueAt(names, path.slice(0, at)), braces);
    return options.length === 0 ? null : { from, options, validFor: STILL };
  }
  if (path === '' && !context.explicit && !braces) return null;
  const options = [
    ...names.filter(({ name }) => isWritable(name, braces)).flatMap((name) => ofName(name, braces)),
    ...(braces ? [] : [...functions].map(ofFunction)),
  ];
  return { from, options, validFor: STILL };
}

/** The argument of the function that code exports: a name, or the start of names in braces. */
const ARGUMENT =
  /export\s+default\s+(?:async\s+)?(?:function\b\s*[\w$]*\s*)?\(?\s*(?:([\p{L}_$][\p{L}\p{N}_$]*)|\{)/u;

/** The keys of the state and the parts of their values, where code reads them from its argument. */
function inCode(names: readonly KnownName[], { state, pos }: CompletionContext) {
  const text = state.sliceDoc(0, pos);
  const argument = ARGUMENT.exec(text);
  if (
    argument === null ||
    isInString(state.doc.lineAt(pos).text.slice(0, pos - state.doc.lineAt(pos).from))
  ) {
    return null;
  }
  const known = names.filter(({ name }) => isWritable(name, false));
  const name = argument[1];
  if (name === undefined) {
    const inBraces = text.slice(argument.index + argument[0].length);
    const written = /(?:^|,)\s*([\p{L}\p{N}_$]*)$/u.exec(inBraces)?.[1];
    if (inBraces.includes('}') || written === undefined) return null;
    return { from: pos - written.length, options: keysOf(known), validFor: STILL };
  }
  const path = EXPRESSION_PATH.exec(text)?.[0];
  if (path?.startsWith(`${name}.`) !== true) return null;
  const [, ...rest] = path.split('.');
  const last = rest.pop() ?? '';
  const from = pos - last.length;
  const options =
    rest.length === 0 ? keysOf(known) : partsOf(valueAt(names, rest.join('.')), false);
  return options.length === 0 ? null : { from, options, validFor: STILL };
}

const keysOf = (names: readonly KnownName[]): Completion[] =>
  names.flatMap((name) => ofName(name, false).slice(0, 1));

/** The part of a reference before the cursor; undefined where a reference is not possible. */
function pathBefore(
  language: CompletedLanguage,
  { state, pos }: CompletionContext,
): string | undefined {
  const line = state.doc.lineAt(pos);
  const before = line.text.slice(0, pos - line.from);
  if (language === 'expression') {
    if (isInString(state.sliceDoc(0, pos))) return undefined;
    return EXPRESSION_PATH.exec(before)?.[0] ?? (/[\p{N}.'"\])]$/u.test(before) ? undefined : '');
  }
  if (language === 'json' && syntaxTree(state).resolveInner(pos, -1).name !== 'String') {
    return undefined;
  }
  const open = /\{+(?=[^{}]*$)/.exec(before);
  // Two braces represent a literal one.
  if (open === null || open[0].length % 2 === 0) return undefined;
  const inside = before.slice(open.index + open[0].length);
  return inside === '' || PATH.exec(inside)?.[0] === inside ? inside : undefined;
}

function isInString(before: string): boolean {
  let quote: string | undefined;
  for (let at = 0; at < before.length; at += 1) {
    const character = before[at];
    if (character === '\\' && quote !== undefined) at += 1;
    else if (quote !== undefined) quote = character === quote ? undefined : quote;
    else if (character === '"' || character === "'") quote = character;
  }
  return quote !== undefined;
}

/** Names in templates can contain hyphens, while expressions subtract. */
const isWritable = (name: string, braces: boolean): boolean =>
  IDENTIFIER.test(braces ? name.replaceAll('-', '_') : name);

function ofName({ name, from, value }: KnownName, braces: boolean): Completion[] {
  const own: Completion = {
    label: name,
    detail: value === undefined ? from : texts.from(shortValue(value), from),
    boost: 2,
    ...(braces && { apply: closed }),
  };
  const parts = entriesOf(value)
    .filter(([key]) => isWritable(key, braces))
    .slice(0, MOST_PARTS)
    .map(([key, part]): Completion => optionOf(`${name}.${key}`, part, braces, -1));
  return [own, ...parts];
}

const partsOf = (value: unknown, braces: boolean): Completion[] =>
  entriesOf(value)
    .filter(([key]) => isWritable(key, braces))
    .slice(0, MOST_PARTS)
    .map(([key, part]) => optionOf(key, part, braces, 0));

const optionOf = (label: string, value: unknown, braces: boolean, boost: number): Completion => ({
  label,
  detail: shortValue(value),
  boost,
  ...(braces && { apply: closed }),
});

const ofFunction = ([name, signature]: [string, string]): Completion => ({
  label: name,
  detail: signature,
  boost: -2,
  apply: `${name}(`,
});

const entriesOf = (value: unknown): [string, unknown][] =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? Object.entries(value) : [];

/** The example at a path of names and indexes. */
function valueAt(names: readonly KnownName[], path: string): unknown {
  const [first = '', ...rest] = path.split(/\.|(?=\[)/);
  let value = names.find(({ name }) => name === first)?.value;
  for (const part of rest) {
    const key = part.startsWith('[') ? part.slice(1, -1) : part;
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
    value = (value as Record<string, unknown>)[key];
  }
  return value;
}

/** Inserts a name, and the closing brace if there is none. */
function closed(view: EditorView, { label }: Completion, from: number, to: number): void {
  const brace = view.state.sliceDoc(to, to + 1) === '}' ? '' : '}';
  view.dispatch({
    changes: { from, to, insert: label + brace },
    selection: { anchor: from + label.length + 1 },
    userEvent: 'input.complete',
  });
}
