import type { GraphNode } from '#shared/contract/workflows/graph.ts';
import type { Json, JsonObject } from '#shared/json.ts';
import { utf8Bytes } from '#shared/values/canonical-json.ts';
import { type Callbacks, callbacksOf } from '#shared/graph/waits/callbacks.ts';
import { outputKey } from '#shared/graph/compile.ts';
import type { Layout } from './layout.ts';

/** What is known about a key of the state when a node begins. */
export type KeyKnowledge =
  /** Its value; undefined: the state does not have the key. */
  | { known: true; value: Json | undefined }
  | {
      known: false;
      /** Whether the state has the key, with any value. */
      present: boolean;
      /**
       * Set for the key of a loop or map around the node: the maximum size of each field in bytes, null for any size.
       */
      fields?: Readonly<Record<string, number | null>>;
      /** The maximum size of the value as JSON, in bytes. Null: unknown. */
      bytes: number | null;
      /** The only node that can write it, if that always succeeds before. */
      writer?: number;
    };

/** What a node can write to the state, as far as it was examined. */
export interface Left {
  /** Whether it never runs. */
  never: boolean;
  /** The maximum size of its output in bytes. Null: unknown. */
  bytes: number | null;
}

/** What is known about the state at each node of a graph before it runs. */
export interface Knowledge {
  /** `apartFromItself`: without what the node itself writes. */
  at(node: number, key: string, apartFromItself?: boolean): KeyKnowledge;
  /** The waits for callbacks, whose addresses texts can contain. */
  callbacks: Callbacks;
  /** The whole state, if it is known. */
  stateAt(node: number): JsonObject | undefined;
}

/**
 * A key is known if the input has it, or lacks it, and no node that can run earlier writes it. The input of a decision
 * at a gate can have any keys. `left` has the results so far for each node; undefined for nodes that were not examined
 * yet. `isDone`: whether a node has always succeeded by the time another begins. `isOver`: whether what a writer writes
 * is part of the input for a node.
 */
export function createKnowledge(
  layout: Layout,
  input: JsonObject | undefined,
  left: readonly (Left | undefined)[],
  isDone: (node: number, before: number) => boolean,
  isOver: (writer: number, node: number) => boolean = () => false,
): Knowledge {
  const { nodes, writers } = layout;
  const gates = nodes.flatMap(({ kind }, at) => (kind === 'human_gate' ? [at] : []));
  const affects = (writer: number, node: number): boolean =>
    left[writer]?.never !== true && !isOver(writer, node) && mayPrecede(layout, writer, node);
  const anyKey = nodes.map((): boolean | undefined => undefined);
  const hasAnyKey = (node: number): boolean =>
    (anyKey[node] ??= gates.some((gate) => affects(gate, node)));

  function at(node: number, key: string, apartFromItself = false): KeyKnowledge {
    // In an item of a map, only what is in the item can write the map's key.
    const map = layout.around[node]!.find((head) => isMapOf(nodes[head]!, key));
    const isNear = (writer: number): boolean =>
      map === undefined || writer === map || layout.inside.has(writer, map);
    const before = (writers.get(key) ?? []).filter(
      (writer) => !(apartFromItself && writer === node) && isNear(writer) && affects(writer, node),
    );
    const isOpen =
      map === undefined
        ? hasAnyKey(node)
        : gates.some((gate) => isNear(gate) && affects(gate, node));
    const given = input !== undefined && Object.hasOwn(input, key) ? input[key] : undefined;
    // A loop writes its key before it reads it.
    const isGiven = input !== undefined || (apartFromItself && key === nodes[node]!.id);
    if (before.length === 0 && isGiven && !isOpen) return { known: true, value: given };
    const written = before.some(
      (writer) => outputKey(nodes[writer]!) === key && isDone(writer, node),
    );
    const sizes = before.map((writer) => left[writer]?.bytes ?? null);
    // Without a known input, the key may be in it.
    if (input === undefined && !written) sizes.push(null);
    if (given !== undefined) sizes.push(bytesOf(given));
    const [only, ...others] = before;
    if (others.length === 0 && only !== undefined && !isOpen) {
      const fields = fieldsIn(layout, only, node);
      if (fields !== undefined) return { known: false, present: true, fields, bytes: null };
    }
    const isAlone = others.length === 0 && written && !isOpen && isGiven;
    return {
      known: false,
      present: written || given !== undefined,
      bytes: isOpen || sizes.includes(null) ? null : Math.max(0, ...(sizes as number[])),
      ...(isAlone ? { writer: only! } : {}),
    };
  }

  return {
    at,
    callbacks: callbacksOf(layout),
    stateAt: (node) =>
      input === undefined || nodes.some((_, writer) => affects(writer, node)) ? undefined : input,
  };
}

const isMapOf = ({ kind, id }: GraphNode, key: string): boolean => kind === 'map' && id === key;

/** The maximum number of bytes in JSON for one byte of text. */
export const ESCAPED = 6;

export const bytesOf = (value: Json): number => utf8Bytes(JSON.stringify(value));

/** The fields that the key of a loop or map has in its body. */
function fieldsIn({ nodes, inside }: Layout, head: number, node: number) {
  const { kind } = nodes[head]!;
  if (!inside.has(node, head)) return undefined;
  return kind === 'map' ? { item: null, index: NUMBER_BYTES } : LOOP_FIELDS;
}

const NUMBER_BYTES = 20;
const LOOP_FIELDS = { iterations: NUMBER_BYTES, exhausted: NUMBER_BYTES };

/** Whether the writes of one node can be in the state when another begins. */
function mayPrecede(
  { nodes, around, inside, follows }: Layout,
  writer: number,
  node: number,
): boolean {
  let inLoop = false;
  for (const region of around[writer]!) {
    const shared = inside.has(node, region);
    if (nodes[region]!.kind === 'loop') inLoop ||= shared || region === node;
    // An item of a map has its own state.
    else if (!shared) return false;
  }
  return inLoop || (writer !== node && !follows.has(node, writer));
}
