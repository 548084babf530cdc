import {
  IconArrowsJoin,
  IconArrowsSplit,
  IconHandStop,
  IconRepeat,
  IconRobot,
  IconTool,
  type Icon,
} from '@tabler/icons-react';
import type { NodeKind } from '../../../shared/contract/graph.ts';

/** How the kinds of nodes look and what they are called; apart from the picture, which is large to load. */
export const kindIcons: Record<NodeKind, Icon> = {
  agent: IconRobot,
  tool: IconTool,
  condition: IconArrowsSplit,
  loop: IconRepeat,
  human_gate: IconHandStop,
  merge: IconArrowsJoin,
};

export const kindNames: Record<NodeKind, string> = {
  agent: 'Agent',
  tool: 'Tool',
  condition: 'Condition',
  loop: 'Loop',
  human_gate: 'Human gate',
  merge: 'Merge',
};
