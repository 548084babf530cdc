import type { GraphDiff } from '#client/index.ts';
import { diffGraphs, diffSchemas } from '#shared/graph/diff.ts';
import type { JsonObject } from '#shared/json.ts';
import { canonicalJson } from '#shared/values/canonical-json.ts';
import type { Paint } from '#cli/output.ts';
import { type Definition, settingNames } from './definition.ts';
import { graphLines } from './graph-lines.ts';
import type { StoredWorkflow } from './stored.ts';

type Setting = (typeof settingNames)[number];
export type Settings = Pick<StoredWorkflow, Setting>;

/** The workspace's values for settings that were never set. */
export const emptySettings = {
  description: '',
  graph: { nodes: [], edges: [] },
  input_schema: null,
  run_cap_usd: null,
  overrun: 'none',
  requires_experiment: false,
  checks: [],
  limits: null,
} as const satisfies Partial<Settings>;

/** What would change. */
export interface Difference extends Pick<GraphDiff, 'nodes' | 'edges' | 'input_schema'> {
  /** The settings whose value changes. */
  settings: Setting[];
}

/** The settings whose value in the file differs from the workflow's. Settings that the file omits are not compared. */
export const changedSettings = (before: Settings, definition: Partial<Definition>): Setting[] =>
  settingNames.filter(
    (name) =>
      definition[name] !== undefined &&
      canonicalJson(definition[name]) !== canonicalJson(before[name]),
  );

export function differenceOf(before: Settings, definition: Definition): Difference {
  const settings = changedSettings(before, definition);
  const { graph = before.graph, input_schema: schema = before.input_schema } = definition;
  return {
    settings,
    ...(diffGraphs(before.graph, graph) as Pick<GraphDiff, 'nodes' | 'edges'>),
    input_schema: diffSchemas(
      before.input_schema as JsonObject | null,
      schema as JsonObject | null,
    ),
  };
}

/** The differences including the other settings, and the paths in changed nodes. */
export function differenceLines(difference: Difference, paint: Paint): string[] {
  const { settings, nodes, edges } = difference;
  const plain = settings.filter((name) => name !== 'graph' && name !== 'input_schema');
  const lines = [
    ...plain.map((name) => `${paint('yellow', '~')} ${name}`),
    ...graphLines(
      {
        ...difference,
        nodes: { ...nodes, changed: withPaths(nodes.changed) },
        edges: { ...edges, changed: withPaths(edges.changed) },
      },
      paint,
    ),
  ];
  // Such as a different order of the nodes.
  const graphOnly =
    settings.includes('graph') &&
    [nodes, edges].every((parts) => Object.values(parts).every((list) => list.length === 0));
  return graphOnly ? [...lines, `${paint('yellow', '~')} graph`] : lines;
}

const withPaths = (parts: { id: string; paths: string[] }[]): { id: string; paths: string[] }[] =>
  parts.map((part) => ({ ...part, id: `${part.id}: ${part.paths.join(', ')}` }));
