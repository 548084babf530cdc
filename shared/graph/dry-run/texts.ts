import type { GraphNode } from '#shared/contract/workflows/graph.ts';
import type { Json, JsonObject } from '#shared/json.ts';
import { utf8Bytes } from '#shared/values/canonical-json.ts';
import { expressionRoots } from '#shared/graph/expression/expression.ts';
import { parseTemplate } from '#shared/graph/expression/template.ts';
import { isObject } from '#shared/graph/json-value.ts';
import { mockOutputTexts, nodeTexts, type NodeText } from '#shared/graph/node-texts.ts';
import { type Callbacks, referencesTo } from '#shared/graph/waits/callbacks.ts';
import { CALLBACKS } from '#shared/values/callbacks.ts';
import { bytesOf, ESCAPED, type KeyKnowledge, type Knowledge } from './knowledge.ts';

/**
 * How much is known about texts before the node begins. `known`: their values. `fits`: they have a value in every run.
 * `open`: neither.
 */
type Fit = 'known' | 'fits' | 'open';

/** The texts of one node, and what is known about the keys that they read. */
export interface NodeReading {
  /** The waits for callbacks of the graph. */
  callbacks: Callbacks;
  /** For some of the node's texts, by default for all of them. */
  fit(texts?: readonly NodeText[]): Fit;
  /** The known keys that the node reads. */
  state: JsonObject;
  /** The maximum size of a value in bytes once its templates are rendered. Null: unknown. */
  filledBytes(template: Json): number | null;
  /** Whether all of its texts can be rendered in every run, and none becomes too long. */
  isFilled(): boolean;
}

const textsOf = (node: GraphNode): NodeText[] =>
  node.kind === 'agent' ? [...nodeTexts(node), ...mockOutputTexts(node)] : nodeTexts(node);

export function readNode(knowledge: Knowledge, at: number, node: GraphNode): NodeReading {
  const keys = new Map<string, KeyKnowledge>();
  const { callbacks } = knowledge;
  // An address is known before it is sent, as its reference.
  const addresses = (name: string): KeyKnowledge | undefined =>
    name === CALLBACKS && callbacks.size > 0
      ? { known: true, value: referencesTo(callbacks) }
      : undefined;
  const key = (name: string): KeyKnowledge => {
    const found = keys.get(name) ?? addresses(name) ?? knowledge.at(at, name, node.kind === 'loop');
    keys.set(name, found);
    return found;
  };
  const all = textsOf(node);
  const state: JsonObject = {};
  const fits = new Map<string, Fit>();
  for (const text of all) {
    const read = references(text);
    for (const { root } of read) {
      const found = key(root);
      if (found.known && found.value !== undefined) state[root] = found.value;
    }
    fits.set(text.path, fitOf(read, key));
  }
  const fit = (texts = all) => texts.map(({ path }) => fits.get(path)!).reduce(lesser, 'known');
  return {
    callbacks,
    state,
    fit,
    filledBytes: (template) => filledBytes(template, key),
    isFilled: () => {
      if (fit() === 'open') return false;
      const bytes = sum(all.map(({ text }) => textBytes(text, key)));
      return bytes !== null && bytes <= FILLED_BYTES;
    },
  };
}

/** Far below the limit for rendered templates. */
const FILLED_BYTES = 1_000_000;

const ORDER: readonly Fit[] = ['open', 'fits', 'known'];
const lesser = (one: Fit, other: Fit): Fit =>
  ORDER.indexOf(one) < ORDER.indexOf(other) ? one : other;

interface Reference {
  root: string;
  /** The path within the key's value that it reads, from the outside in. */
  rest: readonly (string | number)[];
}

/** An expression can read any part. */
const ANY = ['', ''];

/** The references in a text to keys of the state. */
function references({ language, text, locals = [] }: NodeText): Reference[] {
  const found =
    language === 'expression'
      ? expressionRoots(text).map((root) => ({ root, rest: ANY }))
      : parseTemplate(text).parts.flatMap((part) =>
          typeof part === 'string'
            ? []
            : [{ root: String(part.path[0]), rest: part.path.slice(1) }],
        );
  return found.filter(({ root }) => !locals.includes(root));
}

const fitOf = (read: readonly Reference[], key: (name: string) => KeyKnowledge): Fit =>
  read
    .map(({ root, rest }): Fit => {
      const found = key(root);
      if (found.known) return 'known';
      if (rest.length === 1 && found.fields !== undefined) {
        return Object.hasOwn(found.fields, rest[0]!) ? 'fits' : 'open';
      }
      return found.present && rest.length === 0 ? 'fits' : 'open';
    })
    .reduce(lesser, 'known');

function filledBytes(value: Json, key: (name: string) => KeyKnowledge): number | null {
  if (typeof value === 'string') return textBytes(value, key);
  if (typeof value !== 'object' || value === null) return bytesOf(value);
  const parts = Array.isArray(value) ? value : Object.values(value);
  const names = isObject(value) ? bytesOf(Object.keys(value)) : 0;
  const filled = parts.map((part) => {
    const bytes = filledBytes(part, key);
    return bytes === null || typeof part !== 'string' ? bytes : ESCAPED * bytes;
  });
  // Brackets, commas and colons.
  return sum([names, 2 + 2 * parts.length, ...filled]);
}

const textBytes = (text: string, key: (name: string) => KeyKnowledge): number | null =>
  sum(
    parseTemplate(text).parts.map((part) => {
      if (typeof part === 'string') return utf8Bytes(part);
      const found = key(String(part.path[0]));
      if (!found.known) return found.fields?.[String(part.path[1])] ?? found.bytes;
      return found.value === undefined ? 0 : bytesOf(found.value);
    }),
  );

const sum = (sizes: readonly (number | null)[]): number | null =>
  sizes.reduce((all, size) => (all === null || size === null ? null : all + size), 0);
