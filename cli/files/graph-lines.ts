import type { GraphDiff } from '#client/index.ts';
import { type Paint, printable } from '#cli/output.ts';

const signs = [
  ['added', ['green', '+']],
  ['removed', ['red', '-']],
  ['changed', ['yellow', '~']],
] as const;

/** One line for each node, edge and schema that differs. */
export function graphLines(
  { nodes, edges, input_schema: schema }: Pick<GraphDiff, 'nodes' | 'edges' | 'input_schema'>,
  paint: Paint,
): string[] {
  const lines: string[] = [];
  if (schema !== null) {
    const [sign, [colour, mark]] =
      schema.from === null ? signs[0] : schema.to === null ? signs[1] : signs[2];
    const paths = sign === 'changed' ? `: ${schema.paths.join(', ')}` : '';
    lines.push(`${paint(colour, mark)} input schema${paths}`);
  }
  for (const [kind, parts] of [['node', nodes] as const, ['edge', edges] as const]) {
    for (const [change, [colour, sign]] of signs) {
      for (const part of parts[change]) {
        lines.push(`${paint(colour, sign)} ${kind} ${nameOf(part)}`);
      }
    }
  }
  return lines;
}

/** Drafts may contain anything. */
function nameOf(part: unknown): string {
  const { id, source, target } = (part ?? {}) as Record<string, unknown>;
  if (typeof source === 'string' && typeof target === 'string') {
    return printable(`${source} > ${target}`);
  }
  return printable(typeof id === 'string' ? id : JSON.stringify(part));
}
