import './graph.css';
import { Handle, type Node, type NodeProps, Position } from '@xyflow/react';
import { memo, type ReactNode } from 'react';
import type { NodeKind } from '#shared/contract/workflows/graph.ts';
import { kindNames } from '#console/src/messages/en/graph.ts';
import { UserText } from '#console/src/parts/text/user-text.tsx';
import { kindIcons } from './kinds.ts';
import { nodeSize } from './layout.ts';

/** The content of a card. xyflow's `Node` requires a type, not an interface. */
export type NodeCardData = {
  kind: NodeKind;
  label: string;
  /** Shown after the kind, for example the current iteration. */
  detail?: string | undefined;
  /** A word in a corner: the state, or the number of errors. */
  mark?: ReactNode;
  /** A theme color for the border; none by default. */
  colour?: string | undefined;
  faded?: boolean;
  /** The part of the items that failed, from 0 to 1: a red part of the lower edge. */
  failedShare?: number | undefined;
  /** Text for screen readers. */
  spoken?: string;
};

export type CardNode = Node<NodeCardData, 'card'>;

/** Where edges attach to a card. Set on the node, so that the browser does not have to measure each card. */
export const cardHandles = [
  { type: 'target' as const, position: Position.Left, x: 0, y: nodeSize.height / 2 },
  { type: 'source' as const, position: Position.Right, x: nodeSize.width, y: nodeSize.height / 2 },
];

/** One failed item of a thousand is still visible. */
const MIN_SHARE = 0.04;

/** One node of a graph view. */
export const NodeCard = memo(function NodeCard({ data, selected }: NodeProps<CardNode>) {
  const KindIcon = kindIcons[data.kind];
  return (
    <div
      className="graph-card"
      data-coloured={data.colour}
      data-faded={data.faded === true || undefined}
      data-selected={selected || undefined}
      style={{
        ...nodeSize,
        ...(data.colour !== undefined && {
          borderColor: `var(--mantine-color-${data.colour}-filled)`,
        }),
      }}
    >
      <Handle type="target" position={Position.Left} />
      <div className="graph-card-row">
        <KindIcon size={16} stroke={1.6} aria-hidden />
        <span className="graph-card-name">
          <UserText>{data.label}</UserText>
        </span>
      </div>
      <div className="graph-card-row">
        <span className="graph-card-about">
          {kindNames[data.kind]}
          {data.detail !== undefined && ` · ${data.detail}`}
        </span>
        {data.mark}
      </div>
      {data.failedShare !== undefined && (
        <span
          className="graph-card-failed"
          style={{ width: `${Math.max(MIN_SHARE, data.failedShare) * 100}%` }}
        />
      )}
      <Handle type="source" position={Position.Right} />
    </div>
  );
});
