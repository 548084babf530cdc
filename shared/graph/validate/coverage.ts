import type { Graph } from '#shared/contract/workflows/graph.ts';
import { compileGraph, GraphError } from '#shared/graph/compile.ts';
import { coverageOf, isWrite, type Uncovered } from '#shared/graph/consequences/coverage.ts';
import { layoutOf } from '#shared/graph/dry-run/layout.ts';
import { isWaiting } from '#shared/graph/kinds.ts';
import type { Issues } from '#shared/graph/issues.ts';

/** How many places a warning names. */
const MAX_NAMED = 3;

/**
 * Reports gates that let something write although not all of it is known when they are decided: as errors for gates with
 * `covers`, and as one warning for each other gate.
 */
export function checkCoverage(issues: Issues, graph: Graph): void {
  const isAsked = graph.nodes.some((node) => node.kind === 'human_gate' && node.covers === 'all');
  if (!isAsked && !(graph.nodes.some(isWaiting) && graph.nodes.some(isWrite))) return;
  let compiled;
  try {
    compiled = compileGraph(graph);
  } catch (error) {
    // The graph has errors that are reported elsewhere.
    if (error instanceof GraphError) return;
    throw error;
  }
  const whole = layoutOf(compiled);
  graph.nodes.forEach((node, at) => {
    if (node.kind !== 'human_gate') return;
    const all = node.covers === 'all';
    const found = coverageOf(compiled, whole, compiled.nodes.indexOf(node), all);
    const place = { node_id: node.id, path: all ? `nodes[${at}].covers` : `nodes[${at}]` };
    if (all && !found.writes) {
      const message = `Node '${node.id}': no step that writes follows the gate before the next decision, so it covers nothing: remove covers, or move the gate before a step that writes`;
      issues.warning('gate_covers_nothing', message, place);
    }
    if (all) {
      for (const each of found.uncovered) {
        const message = `Node '${node.id}': it does not cover ${placeOf(each)}: ${remedyOf(each)}`;
        issues.error('gate_does_not_cover', message, place);
      }
    } else if (found.uncovered.length > 0) {
      const named = found.uncovered.slice(0, MAX_NAMED).map(placeOf).join('; ');
      const more = found.uncovered.length - MAX_NAMED;
      const rest = more > 0 ? `; and ${more} more` : '';
      const message = `Node '${node.id}': not everything that an approval sets in motion is known when it is decided: ${named}${rest}: ${remedyOf(found.uncovered[0]!)}`;
      issues.warning('gate_covers_partly', message, place);
    }
  });
}

function placeOf({ node: { id }, unknown, tools }: Uncovered): string {
  if (tools.length > 0) {
    return `the calls of ${tools.join(', ')} by '${id}', which its model chooses`;
  }
  const paths = unknown.slice(0, MAX_NAMED).map(({ path }) => path.join('.'));
  const more = unknown.length > MAX_NAMED ? ` and ${unknown.length - MAX_NAMED} more` : '';
  const reads = [...new Set(unknown.flatMap((each) => each.reads))].slice(0, MAX_NAMED);
  return `'${id}', whose ${paths.join(', ')}${more} read${paths.length === 1 ? 's' : ''} ${reads.join(', ')}`;
}

function remedyOf({ node: { id }, tools, writers }: Uncovered): string {
  if (tools.length > 0) return `give each of these tools an approval: 'always'`;
  const approve = `give '${id}' an approval: 'always'`;
  const names = writers.slice(0, MAX_NAMED).map((writer) => `'${writer}'`);
  return names.length === 0 ? approve : `move the gate behind ${names.join(', ')}, or ${approve}`;
}
