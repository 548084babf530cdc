import type { EdgeCondition, NodeKind } from '#shared/contract/workflows/graph.ts';
import { branchingKinds, failingKinds, repeats } from '#shared/graph/kinds.ts';
import { portNames } from '#console/src/messages/en/graph.ts';
import type { DrawnNode, Drawing } from './drawn.ts';

/** Where edges leave a node: `next` with any result, the others with one. */
export type PortId = 'next' | EdgeCondition;

export interface Port {
  id: PortId;
  /** Absent if edges can leave the node in only one way. */
  name: string | undefined;
  /** Says more than the name. */
  about: string;
  /** Whether a gate also takes it at its deadline. */
  atDeadline: boolean;
  used: boolean;
  /** Its height on the card: 0 is the top, 1 the bottom. */
  at: number;
}

/** The port that an edge with this condition leaves. From a loop or map, one without a condition continues after its body. */
export const portOf = (kind: NodeKind, condition: EdgeCondition | undefined): PortId =>
  condition ?? (repeats({ kind }) ? 'false' : 'next');

/** The condition of an edge from this port. */
export const conditionOf = (port: PortId): EdgeCondition | undefined =>
  port === 'next' ? undefined : port;

/** The ports that a new edge of this kind of node can leave, in the order of the drawing. */
export const portsOfKind = (kind: NodeKind): PortId[] => [
  ...(branchingKinds.includes(kind) ? (['true', 'false'] as const) : (['next'] as const)),
  ...(failingKinds.includes(kind) ? (['error'] as const) : []),
];

/** The name of a port in a list, where the way on needs one, too. */
export function portName(kind: NodeKind, port: PortId): string {
  if (port === 'error') return portNames.error;
  const names: Partial<Record<PortId, string>> = portNames[kind];
  return names[port] ?? portNames.condition[port];
}

const order: readonly PortId[] = ['true', 'next', 'false', 'error'];

/** The used ports of each node, to pass to `portsOf`. */
export function usedPorts({ nodes, edges }: Drawing): ReadonlyMap<string, string> {
  const kinds = new Map(nodes.map(({ id, kind }) => [id, kind]));
  const used = new Map<string, Set<PortId>>();
  for (const { source, conditionValue } of edges) {
    const kind = kinds.get(source);
    if (kind === undefined) continue;
    used.set(source, (used.get(source) ?? new Set()).add(portOf(kind, conditionValue)));
  }
  return new Map([...used].map(([id, ports]) => [id, [...ports].toSorted().join()]));
}

const known = new WeakMap<DrawnNode, Map<string, readonly Port[]>>();

/** The ports of a node, from top to bottom. The same node and use give the same list. */
export function portsOf(from: DrawnNode, used = ''): readonly Port[] {
  const ofNode = known.get(from) ?? new Map<string, readonly Port[]>();
  known.set(from, ofNode);
  const before = ofNode.get(used);
  if (before !== undefined) return before;
  const made = listed(from, new Set(used.split(',') as PortId[]));
  ofNode.set(used, made);
  return made;
}

/** A wait for a time has one way on: nothing comes or is missed. */
const ownPorts = (kind: NodeKind, { seconds, until }: DrawnNode['node']): PortId[] =>
  kind === 'wait' && (seconds ?? until) !== undefined ? ['next', 'error'] : portsOfKind(kind);

/** Also ports that the kind does not have, but a draft uses. */
function listed({ kind, node }: DrawnNode, used: ReadonlySet<PortId>): Port[] {
  const own = ownPorts(kind, node);
  const ids = order.filter((id) => own.includes(id) || used.has(id));
  const deadline = kind === 'human_gate' ? deadlinePorts[String(node['on_timeout'])] : undefined;
  return ids.map((id, place): Port => {
    const onlyWay = id === 'next' && own.includes('next');
    const atDeadline = id === deadline;
    const name = portName(kind, id);
    return {
      id,
      name: onlyWay ? undefined : name,
      about: atDeadline ? portNames.orAtDeadline(name) : name,
      atDeadline,
      used: used.has(id),
      at: heightOf(ids, place),
    };
  });
}

const deadlinePorts: Partial<Record<string, PortId>> = {
  approve: 'true',
  reject: 'false',
  fail: 'error',
};

/** The way on is in the middle, so that a row of cards has a straight line. */
function heightOf(ids: readonly PortId[], place: number): number {
  if (ids[0] === 'next') return [0.5, 0.84][place] ?? 1;
  const step = Math.min(0.4, 0.8 / ids.length);
  return 0.5 + (place - (ids.length - 1) / 2) * step;
}
