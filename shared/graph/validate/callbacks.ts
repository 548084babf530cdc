import type { Graph, GraphNode } from '#shared/contract/workflows/graph.ts';
import { outputKey } from '#shared/graph/compile.ts';
import { parseTemplate } from '#shared/graph/expression/template.ts';
import type { Issues } from '#shared/graph/issues.ts';
import { mockOutputTexts, nodeTexts, type NodeText, textReads } from '#shared/graph/node-texts.ts';
import { hint } from '#shared/graph/suggest.ts';
import type { Links } from '#shared/graph/topology.ts';
import { awaitsCallback } from '#shared/graph/waits/callbacks.ts';
import { CALLBACKS, WHERE_CALLBACKS_STAND } from '#shared/values/callbacks.ts';
import type { Unreadable, ValidationContext } from './context.ts';
import type { Structure } from './structure.ts';

interface Checked {
  graph: Graph;
  links: Links;
  /** Only an acyclic graph has it. */
  structure: Structure | undefined;
  unreadable: Unreadable;
}

/**
 * Checks the references to the addresses of callbacks. In a graph without a wait for one, `callbacks` is a key of the
 * state like any other, unless a reference names a node that waits for something else.
 */
export function checkCallbacks(
  issues: Issues,
  checked: Checked,
  { inputKeys }: Pick<ValidationContext, 'inputKeys'>,
): void {
  const { nodes } = checked.graph;
  const waits = new Set(nodes.flatMap((node) => (awaitsCallback(node) ? [node.id] : [])));
  const isKey = nodes.some((node) => node.id === CALLBACKS || outputKey(node) === CALLBACKS);
  if (waits.size > 0) checkReserved(issues, checked.graph);
  const problemWith = createReaches(checked);
  const sent = new Set<string>();
  nodes.forEach((node, at) => {
    if (checked.unreadable.has(at)) return;
    for (const { text, id, written } of referencesOf(node)) {
      const named = nodes.find((each) => each.id === id);
      const place = { node_id: node.id, path: `nodes[${at}].${text.path}` };
      if (waits.size === 0 && named?.kind !== 'wait') {
        if (isKey || inputKeys !== undefined || id === undefined) continue;
        const message = `Node '${node.id}': no node waits for a callback '${id}', so '${written}' reads the key '${CALLBACKS}' of the input`;
        issues.warning('unknown_callback', message, place);
        continue;
      }
      const found = problemOf({ text, id, written }, named, waits);
      if (found !== undefined) {
        issues.error(found.code, `Node '${node.id}': ${found.message}`, place);
        continue;
      }
      sent.add(id!);
      const problem = problemWith(at, id!);
      if (problem === undefined) continue;
      issues.error('callback_not_reachable', `Node '${node.id}': ${problem}`, place);
    }
  });
  nodes.forEach((node, at) => {
    if (!awaitsCallback(node) || sent.has(node.id)) return;
    const message = `Node '${node.id}': nothing tells anybody its address: write ${writtenFor(node.id)} in ${WHERE_CALLBACKS_STAND}`;
    const place = { node_id: node.id, path: `nodes[${at}].callback` };
    issues.warning('callback_not_sent', message, place);
  });
}

interface Reference {
  text: NodeText;
  /** The node that it names; undefined if it names none. */
  id: string | undefined;
  /** As in the text. */
  written: string;
}

function referencesOf(node: GraphNode): Reference[] {
  const texts = [...nodeTexts(node), ...(node.kind === 'agent' ? mockOutputTexts(node) : [])];
  return texts.flatMap((text): Reference[] => {
    if (text.language === 'expression') {
      return readsCallbacks(text) ? [{ text, id: undefined, written: CALLBACKS }] : [];
    }
    return parseTemplate(text.text).parts.flatMap((part) => {
      if (typeof part === 'string' || part.path[0] !== CALLBACKS) return [];
      const id = part.path.length === 2 ? String(part.path[1]) : undefined;
      return [{ text, id, written: part.text }];
    });
  });
}

/** An expression that does not parse is reported elsewhere. */
function readsCallbacks(text: NodeText): boolean {
  try {
    return textReads(text).some(({ key }) => key === CALLBACKS);
  } catch {
    return false;
  }
}

function problemOf(
  { text, id, written }: Reference,
  named: GraphNode | undefined,
  waits: ReadonlySet<string>,
): { code: string; message: string } | undefined {
  if (text.callbacks !== true) {
    const message = `'${written}' would not reach anybody here: move it to ${WHERE_CALLBACKS_STAND}`;
    return { code: 'callback_not_allowed', message };
  }
  if (id === undefined) {
    const [first = 'id'] = waits;
    const message = `'${written}' does not name a callback, like ${writtenFor(first)}`;
    return { code: 'callback_name_invalid', message };
  }
  if (waits.has(id)) return undefined;
  const message =
    named === undefined
      ? `there is no callback '${id}'${hint(id, waits) || `, because there is no such node: add a wait with \`callback\`, or name another one`}`
      : `'${id}' does not wait for a callback${hint(id, waits) || ': set its `callback` instead of what it waits for, or name another node'}`;
  return { code: 'unknown_callback', message };
}

/** A reference to the address of a node. */
const writtenFor = (id: string): string =>
  /^[\p{L}_$][\p{L}\p{N}_$-]*$/u.test(id) ? `{${CALLBACKS}.${id}}` : `{${CALLBACKS}['${id}']}`;

/** Why an address that a node sends would be of no use; undefined if it is. */
function createReaches({
  graph,
  links,
  structure,
}: Checked): (at: number, id: string) => string | undefined {
  const after = new Map<number, Set<number>>();
  return (at, id) => {
    const wait = links.positions.get(id);
    if (structure === undefined || wait === undefined) return undefined;
    const { bodies, back } = structure.loops;
    const around = bodies.find(({ nodes }) => nodes.has(wait) && !nodes.has(at));
    if (around !== undefined) {
      const { id: head, kind } = graph.nodes[around.loop]!;
      const each = kind === 'map' ? 'item' : 'iteration';
      return `'${id}' is in the ${kind} '${head}', where each ${each} has an address of its own: tell it from a node in the ${kind}`;
    }
    const later = after.get(wait) ?? nodesAfter(links, wait, back);
    after.set(wait, later);
    if (!later.has(at)) return undefined;
    return `it begins after '${id}' has ended, so nobody could use the address: tell it from a node before or beside '${id}'`;
  };
}

function nodesAfter(links: Links, start: number, back: Structure['loops']['back']): Set<number> {
  const seen = new Set<number>();
  const open = [start];
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    for (const edge of links.out[node]!) {
      if (back.has(edge) || seen.has(edge.to)) continue;
      seen.add(edge.to);
      open.push(edge.to);
    }
  }
  return seen;
}

/** No text can read this key of the state. */
function checkReserved(issues: Issues, { nodes }: Graph): void {
  nodes.forEach((node, at) => {
    const field = node.id === CALLBACKS ? 'id' : 'output_key';
    if (node.id !== CALLBACKS && outputKey(node) !== CALLBACKS) return;
    const message = `Node '${node.id}': nothing can read the key '${CALLBACKS}', which stands for the addresses of callbacks: choose another ${field}`;
    issues.error('key_reserved', message, { node_id: node.id, path: `nodes[${at}].${field}` });
  });
}
