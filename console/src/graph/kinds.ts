import {
  IconArrowsJoin,
  IconArrowsSplit,
  IconCode,
  IconHandStop,
  IconHourglass,
  IconRepeat,
  IconStack2,
  IconRobot,
  IconSitemap,
  IconTool,
  type Icon,
} from '@tabler/icons-react';
import type { NodeKind } from '#shared/contract/workflows/graph.ts';

/** Icons of the node kinds. They are separate from the graph view, which takes long to load. */
export const kindIcons: Record<NodeKind, Icon> = {
  agent: IconRobot,
  tool: IconTool,
  code: IconCode,
  condition: IconArrowsSplit,
  loop: IconRepeat,
  map: IconStack2,
  workflow: IconSitemap,
  human_gate: IconHandStop,
  wait: IconHourglass,
  merge: IconArrowsJoin,
};

/** The color of a kind, for its icon and the stripe of its cards: 3 to 1 or more on a card. */
export const kindColour = (kind: NodeKind): string => `var(--kind-${kind})`;
