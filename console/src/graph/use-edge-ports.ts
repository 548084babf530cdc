import { useMemo } from 'react';
import type { Drawing } from './drawn.ts';
import { type EdgePorts, edgePorts } from './edges.ts';
import { useSame } from './use-drawing.ts';

/** The ports of the edges. They stay the same while someone types in a node, which then routes no edge again. */
export function useEdgePorts(drawing: Drawing): EdgePorts {
  const ids = useSame(drawing.nodes.map(({ id }) => id));
  const kinds = useSame(drawing.nodes.map(({ kind }) => kind));
  const { edges } = drawing;
  // Nothing else of the nodes decides which ports there are.
  // oxlint-disable-next-line react/exhaustive-deps
  return useMemo(() => edgePorts(drawing), [ids, kinds, edges]);
}
