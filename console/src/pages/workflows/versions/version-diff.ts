import type { Graph, JsonObject, WorkflowVersion } from '#client/index.ts';
import { diffGraphs } from '#shared/graph/diff.ts';
import { partNames as text } from '#console/src/messages/en/workflows/versions.ts';
import { changedFields } from '#console/src/parts/data/changed-fields.ts';
import type { Json } from '#shared/json.ts';
import { isRecord } from '#console/src/parts/data/record.ts';

export type Fate = 'added' | 'removed' | 'changed';

/** What a version consists of. */
export type VersionContent = Pick<WorkflowVersion, 'graph' | 'input_schema'>;

/** Two versions as one picture: all parts of both, and their changes. */
export interface MergedGraph {
  graph: Graph;
  /** By node ID, without unchanged nodes. */
  nodes: ReadonlyMap<string, Fate>;
  /** By `edgeKey`. */
  edges: ReadonlyMap<string, 'added' | 'removed'>;
  changes: readonly PartChange[];
}

/** The change of a node, an edge or the input schema: its fields before and after. For a changed part, only those that differ. */
export interface PartChange {
  part: 'node' | 'edge' | 'input';
  name: string;
  fate: Fate;
  before: unknown;
  after: unknown;
}

export const edgeKey = (source: unknown, target: unknown, branch: unknown): string =>
  JSON.stringify([source, target, branch ?? null]);

/** The changes from one version to the other. Nodes are matched by ID. */
export function mergeVersions(from: Graph, to: Graph): MergedGraph {
  const { nodes, edges } = diffGraphs(from, to);
  const nodeFates = new Map<string, Fate>();
  for (const node of nodes.added) nodeFates.set(nameOf(node), 'added');
  for (const node of nodes.removed) nodeFates.set(nameOf(node), 'removed');
  for (const { id } of nodes.changed) nodeFates.set(id, 'changed');
  const edgeFates = new Map<string, 'added' | 'removed'>();
  for (const edge of edges.added) edgeFates.set(keyOf(edge), 'added');
  for (const edge of edges.removed) edgeFates.set(keyOf(edge), 'removed');
  return {
    graph: {
      nodes: [...to.nodes, ...nodes.removed],
      edges: [...to.edges, ...edges.removed],
    },
    nodes: nodeFates,
    edges: edgeFates,
    changes: [
      ...changesOf('node', nodes.added, nodes.removed),
      ...nodes.changed.map(({ id }) =>
        changeOf('node', id, byId(from.nodes, id), byId(to.nodes, id)),
      ),
      ...changesOf('edge', edges.added, edges.removed),
      ...edges.changed.map(({ id }) =>
        changeOf('edge', id, byId(from.edges, id), byId(to.edges, id)),
      ),
    ],
  };
}

/** The change of the input schema; empty if it is the same. */
export function schemaChange(
  { input_schema: before }: VersionContent,
  { input_schema: after }: VersionContent,
): PartChange[] {
  const schema = { part: 'input', name: text.schema } as const;
  if (before === null) {
    return after === null ? [] : [{ ...schema, fate: 'added', before: undefined, after }];
  }
  if (after === null) return [{ ...schema, fate: 'removed', before, after: undefined }];
  if (changedFields(before, after).length === 0) return [];
  return [changeOf(schema.part, schema.name, before, after)];
}

const changesOf = (
  part: PartChange['part'],
  added: readonly Json[],
  removed: readonly Json[],
): PartChange[] => [
  ...added.map((after): PartChange => ({
    part,
    name: nameOf(after),
    fate: 'added',
    before: undefined,
    after,
  })),
  ...removed.map((before): PartChange => ({
    part,
    name: nameOf(before),
    fate: 'removed',
    before,
    after: undefined,
  })),
];

function changeOf(
  part: PartChange['part'],
  name: string,
  before: JsonObject,
  after: JsonObject,
): PartChange {
  const changes = changedFields(before, after);
  const side = (which: 'before' | 'after'): JsonObject =>
    Object.fromEntries(
      changes
        .filter((change) => change[which] !== undefined)
        .map((change) => [change.name, change[which]]),
    );
  return { part, name, fate: 'changed', before: side('before'), after: side('after') };
}

const byId = (parts: readonly unknown[], id: string): JsonObject =>
  parts.find((part): part is JsonObject => isRecord(part) && part['id'] === id) ?? {};

function nameOf(part: unknown): string {
  if (!isRecord(part)) return JSON.stringify(part);
  const { id, source, target, condition_value: branch } = part;
  if (typeof id === 'string') return id;
  if (typeof source !== 'string' || typeof target !== 'string') return JSON.stringify(part);
  return typeof branch === 'string'
    ? text.edgeOfBranch(source, target, branch)
    : text.edge(source, target);
}

const keyOf = (edge: unknown): string =>
  isRecord(edge)
    ? edgeKey(edge['source'], edge['target'], edge['condition_value'])
    : edgeKey(undefined, undefined, undefined);
