import { Group, Paper, Text } from '@mantine/core';
import {
  IconArrowsJoin,
  IconArrowsSplit,
  IconHandStop,
  IconRepeat,
  IconRobot,
  IconTool,
  type Icon,
} from '@tabler/icons-react';
import { Handle, type Node, type NodeProps, Position } from '@xyflow/react';
import type { ReactNode } from 'react';
import type { NodeKind } from '../../../shared/contract/graph.ts';
import { Foreign } from '../parts/foreign.tsx';
import { nodeSize } from './layout.ts';

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

/** What a card shows beside the node's name. `Node` of xyflow wants a type, not an interface. */
export type NodeCardData = {
  kind: NodeKind;
  label: string;
  /** A word in a corner: the state, the round, the number of mistakes. */
  mark?: ReactNode;
  /** A colour of the theme for the border; by default none. */
  colour?: string | undefined;
  faded?: boolean;
  /** Said to those who do not see the card. */
  spoken?: string;
};

export type CardNode = Node<NodeCardData, 'card'>;

/** One node of a picture of a graph. */
export function NodeCard({ data, selected }: NodeProps<CardNode>) {
  const KindIcon = kindIcons[data.kind];
  return (
    <Paper
      withBorder
      w={nodeSize.width}
      h={nodeSize.height}
      px="sm"
      py={6}
      opacity={data.faded === true ? 0.55 : 1}
      style={{
        borderColor:
          data.colour === undefined ? undefined : `var(--mantine-color-${data.colour}-filled)`,
        borderWidth: data.colour === undefined ? 1 : 2,
        outline: selected ? '2px solid var(--mantine-primary-color-filled)' : undefined,
        outlineOffset: 2,
      }}
    >
      <Handle type="target" position={Position.Left} />
      <Group gap={6} wrap="nowrap" justify="space-between">
        <Group gap={6} wrap="nowrap" miw={0}>
          <KindIcon size={16} stroke={1.6} aria-hidden />
          <Text size="sm" fw={600} truncate>
            <Foreign>{data.label}</Foreign>
          </Text>
        </Group>
      </Group>
      <Group gap={6} wrap="nowrap" justify="space-between" mt={2}>
        <Text size="xs" c="dimmed">
          {kindNames[data.kind]}
        </Text>
        {data.mark}
      </Group>
      <Handle type="source" position={Position.Right} />
    </Paper>
  );
}
