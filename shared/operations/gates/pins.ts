import type { Db } from '#shared/db/pool.ts';
import type { GateTargets } from '#shared/db/gates/shown.ts';
import { type CustomTool, findCustomTools } from '#shared/db/tools/custom-tools.ts';
import type { Graph, GraphNode } from '#shared/contract/workflows/graph.ts';
import { calledBy, type CalledWorkflow, callKey } from '#shared/graph/children/called-workflows.ts';
import type { ShownTarget } from '#shared/graph/consequences/binding.ts';
import type { Effect } from '#shared/graph/consequences/effects.ts';
import { toolNamesOf } from '#shared/graph/node-tools.ts';
import { calledAs, customToolNames, workflowOf } from '#shared/tools.ts';
import { findChosen, targetOfChild, targetOfTool } from './step-tools.ts';

type Shown = Omit<Effect, 'cost' | 'digests'>;

/** Adds to an effect what it reaches at present. */
export type Pinned = (effect: Shown) => Shown & { target?: ShownTarget };

/** What the custom tools and workflows that a graph calls are at present. `targets`: how to notice that they change. */
export async function pinsOf(
  db: Db,
  workspaceId: string,
  { nodes }: Graph,
): Promise<{ targets: GateTargets; pinned: Pinned }> {
  const names = customToolNames(nodes.flatMap((node) => toolNamesOf(node)));
  const tools = names.length === 0 ? [] : await findCustomTools(db, { workspaceId, names });
  const byName = new Map(tools.map((tool) => [calledAs(tool.name), tool]));
  const calls = new Map(nodes.flatMap(calledBy).map((call) => [callKey(call), call]));
  const found = new Map<string, Awaited<ReturnType<typeof findChosen>>>();
  for (const [key, { workflow, version }] of calls) {
    found.set(key, await findChosen(db, { workspaceId, workflow, version }));
  }
  const custom = new Set(names.map(calledAs));
  const targetOf = (tool: string, call: CalledWorkflow | undefined): ShownTarget | undefined => {
    if (call !== undefined) return targetOfChild(found.get(callKey(call)));
    return custom.has(tool) ? targetOfTool(tool, byName.get(tool)) : undefined;
  };
  return {
    targets: {
      tools: tools.map(({ id, revision }: CustomTool) => ({ id, revision })),
      workflows: [...calls].flatMap(([key, { workflow, version = null }]) => {
        const called = found.get(key);
        return called === undefined
          ? []
          : [{ id: called.id, name: workflow, current: version === null ? called.version : null }];
      }),
    },
    pinned: (effect) => {
      const node = nodes.find(({ id }) => id === effect.node_id);
      const target = targetOf(effect.tool ?? '', callOf(node));
      const missing = target?.tool_digest === null ? missingText(node) : undefined;
      return {
        ...effect,
        ...(effect.may_call === undefined
          ? {}
          : { may_call: effect.may_call.map((call) => ({ ...call, ...digestOf(call.tool) })) }),
        ...(target === undefined ? {} : { target }),
        ...(missing === undefined ? {} : { problem: missing }),
      };
    },
  };

  function digestOf(tool: string): { tool_digest?: string | null } {
    const workflow = workflowOf(tool);
    const target = targetOf(tool, workflow === undefined ? undefined : { workflow });
    return target === undefined ? {} : { tool_digest: target.tool_digest };
  }
}

const callOf = (node: GraphNode | undefined): CalledWorkflow | undefined =>
  node?.kind === 'workflow' ? { workflow: node.workflow, version: node.version } : undefined;

const missingText = (node: GraphNode | undefined): string =>
  node?.kind === 'workflow'
    ? `There is no workflow '${node.workflow}' in this version any more: the step will fail`
    : `The tool '${node?.kind === 'tool' ? node.tool_name : ''}' was deleted: the step will fail`;
