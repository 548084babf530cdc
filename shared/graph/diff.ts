import type { Json, JsonObject } from '#shared/json.ts';
import { canonicalJson } from '#shared/values/canonical-json.ts';
import { differencesOf } from './json-differences.ts';
import { memberOf } from './json-value.ts';

export { canonicalJson } from '#shared/values/canonical-json.ts';

interface PartsDiff {
  /** The parts, in the order of the newer graph. */
  added: Json[];
  /** In the order of the older graph. */
  removed: Json[];
  /**
   * Each part with the paths in it that changed, like `retry.max_attempts` or `params.urls[2]`, in the order of the
   * newer graph.
   */
  changed: { id: string; paths: string[] }[];
}

export interface GraphDiff {
  nodes: PartsDiff;
  edges: PartsDiff;
}

/**
 * The differences between two graphs. Nodes match by id. Edges match by id or, without one, by source, target and
 * condition. Accepts drafts, whose parts can have any shape; anything but a list counts as an empty list. Never throws.
 */
export function diffGraphs(from: unknown, to: unknown): GraphDiff {
  return {
    nodes: diffParts(partsOf(from, 'nodes'), partsOf(to, 'nodes'), nodeName),
    edges: diffParts(partsOf(from, 'edges'), partsOf(to, 'edges'), edgeName),
  };
}

interface SchemaDiff {
  from: JsonObject | null;
  to: JsonObject | null;
  /** Like `properties.age.minimum`; empty if one of the two is null. */
  paths: string[];
}

/** The differences between two schemas; null when there are none. */
export function diffSchemas(from: JsonObject | null, to: JsonObject | null): SchemaDiff | null {
  if (from === null || to === null) return from === to ? null : { from, to, paths: [] };
  const paths = pathsOf(from, to);
  return paths.length === 0 ? null : { from, to, paths };
}

function partsOf(graph: unknown, key: string): Json[] {
  const parts = memberOf(graph as Json, key);
  return Array.isArray(parts) ? parts : [];
}

function textAt(part: Json, key: string): string | undefined {
  const value = memberOf(part, key);
  return typeof value === 'string' ? value : undefined;
}

function nodeName(part: Json): string {
  return textAt(part, 'id') ?? canonicalJson(part);
}

function edgeName(part: Json): string {
  const id = textAt(part, 'id');
  if (id !== undefined) return id;
  const source = textAt(part, 'source');
  const target = textAt(part, 'target');
  if (source === undefined || target === undefined) return canonicalJson(part);
  const condition = textAt(part, 'condition_value');
  return `${source} -> ${target}${condition === undefined ? '' : ` (${condition})`}`;
}

// Drafts may contain an id twice: then the first parts are compared with each other, and so are the second ones.
function byName(
  parts: readonly Json[],
  nameOf: (part: Json) => string,
): Map<string, { id: string; part: Json }> {
  const named = new Map<string, { id: string; part: Json }>();
  const times = new Map<string, number>();
  for (const part of parts) {
    const id = nameOf(part);
    const time = (times.get(id) ?? 0) + 1;
    times.set(id, time);
    named.set(`${time} ${id}`, { id, part });
  }
  return named;
}

function diffParts(
  from: readonly Json[],
  to: readonly Json[],
  nameOf: (part: Json) => string,
): PartsDiff {
  const before = byName(from, nameOf);
  const after = byName(to, nameOf);
  const diff: PartsDiff = { added: [], removed: [], changed: [] };
  for (const [name, { id, part }] of after) {
    const old = before.get(name);
    if (old === undefined) {
      diff.added.push(part);
      continue;
    }
    const paths = pathsOf(old.part, part);
    if (paths.length > 0) diff.changed.push({ id, paths });
  }
  for (const [name, { part }] of before) if (!after.has(name)) diff.removed.push(part);
  return diff;
}

const pathsOf = (from: Json, to: Json): string[] =>
  Array.from(differencesOf(from, to), ({ path }) => path);
