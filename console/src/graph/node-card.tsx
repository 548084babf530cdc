import './graph.css';
import { IconClock, IconHandStop, IconPlayerPlay } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { Handle, type Node, type NodeProps, Position } from '@xyflow/react';
import { type CSSProperties, memo, type ReactNode, useContext } from 'react';
import type { NodeKind } from '#shared/contract/workflows/graph.ts';
import { kindNames, graphView as text } from '#console/src/messages/en/graph.ts';
import { UserText } from '#console/src/parts/text/user-text.tsx';
import { workflowsQuery } from '#console/src/queries/workflows.ts';
import { CardActionsContext } from './card-actions.ts';
import type { DrawnNode } from './drawn.ts';
import { kindColour, kindIcons } from './kinds.ts';
import { nodeSize } from './layout.ts';
import { linesOf, type NodeLines } from './node-lines.ts';
import type { Place } from './places.ts';
import { type Port, portsOf } from './ports.ts';

/** The content of a card. xyflow's `Node` requires a type, not an interface. */
export type NodeCardData = {
  kind: NodeKind;
  label: string;
  lines: NodeLines;
  ports: readonly Port[];
  /** Shown below what the node does, for example the current iteration. */
  detail?: string | undefined;
  /** A word in a corner: the state, or the number of errors. */
  mark?: ReactNode;
  /** A theme color for the border; none by default. */
  colour?: string | undefined;
  faded?: boolean;
  /** The part of the items that failed, from 0 to 1: a red part of the lower edge. */
  failedShare?: number | undefined;
  /** Text for screen readers. */
  spoken?: string | undefined;
};

export type CardNode = Node<NodeCardData, 'card'>;

/** The card of a node. `used` is from `usedPorts`, `card` is what else is known about the node. */
export function cardOf(
  from: DrawnNode,
  {
    used,
    position,
    selected,
    card,
  }: {
    used: string | undefined;
    position: Place;
    selected: boolean;
    card: Partial<NodeCardData> | undefined;
  },
): CardNode {
  const { id, kind, label } = from;
  const lines = linesOf(from);
  const ports = portsOf(from, used);
  const spoken = [kindNames[kind], lines.does, lines.asks, card?.spoken].filter(Boolean).join(', ');
  return {
    id,
    type: 'card',
    position,
    data: { kind, label, lines, ports, ...card },
    ...nodeSize,
    measured: nodeSize,
    handles: handlesOf(ports),
    selected,
    ariaLabel: text.card(label, spoken),
  };
}

/** Where edges attach to a card. Set on the node, so that the browser does not have to measure each card. */
function handlesOf(ports: readonly Port[]): NonNullable<CardNode['handles']> {
  const known = handles.get(ports);
  if (known !== undefined) return known;
  const { width, height } = nodeSize;
  const made = [
    { type: 'target' as const, position: Position.Left, x: 0, y: height / 2 },
    ...ports.map(({ id, at }) => ({
      ...{ id, type: 'source' as const, position: Position.Right, x: width, y: height * at },
    })),
  ];
  handles.set(ports, made);
  return made;
}

const handles = new WeakMap<readonly Port[], NonNullable<CardNode['handles']>>();

/** One failed item of a thousand is still visible. */
const MIN_SHARE = 0.04;

/** One node of a graph view. */
export const NodeCard = memo(function NodeCard({ id, data, selected }: NodeProps<CardNode>) {
  const { kind, label, lines, ports, detail, mark, colour, faded, failedShare } = data;
  const KindIcon = kindIcons[kind];
  const hasFoot = lines.asks !== undefined || detail !== undefined || mark != null;
  return (
    <div
      className="graph-card"
      data-coloured={colour}
      data-faded={faded === true || undefined}
      data-foot={hasFoot || undefined}
      data-selected={selected || undefined}
      style={
        {
          ...nodeSize,
          '--kind': kindColour(kind),
          ...(colour !== undefined && { borderColor: `var(--mantine-color-${colour}-filled)` }),
        } as CSSProperties
      }
    >
      <Handle type="target" position={Position.Left} />
      <div className="graph-card-row">
        <KindIcon className="graph-card-icon" size={16} stroke={1.8} aria-hidden />
        <span className="graph-card-name" title={label}>
          <UserText>{label}</UserText>
        </span>
      </div>
      {kind === 'workflow' ? (
        <Workflow lines={lines} />
      ) : (
        <Does does={lines.does} title={lines.title} />
      )}
      {hasFoot && (
        <div className="graph-card-row graph-card-foot">
          {lines.asks !== undefined && (
            <span className="graph-card-asks" title={lines.asks}>
              <IconHandStop size={12} stroke={2} aria-hidden />
              <span>{lines.asks}</span>
            </span>
          )}
          {detail !== undefined && <span className="graph-card-about">{detail}</span>}
          {mark}
        </div>
      )}
      {failedShare !== undefined && (
        <span
          className="graph-card-failed"
          style={{ width: `${Math.max(MIN_SHARE, failedShare) * 100}%` }}
        />
      )}
      <TestButton id={id} label={label} />
      <Ports id={id} label={label} ports={ports} />
    </div>
  );
});

function Does({ does, title }: Pick<NodeLines, 'does' | 'title'>) {
  return (
    <div className="graph-card-does" title={title}>
      <UserText>{does}</UserText>
    </div>
  );
}

/** Which workflow a node runs: its name, where the graph has its id. */
function Workflow({ lines: { does, title } }: { lines: NodeLines }) {
  const { data: workflows } = useQuery({ ...workflowsQuery, enabled: WORKFLOW_ID.test(does) });
  const named = does.replace(
    WORKFLOW_ID,
    (id) => workflows?.find((workflow) => workflow.id === id)?.name ?? id,
  );
  return <Does does={named} title={title} />;
}

const WORKFLOW_ID = /^wf_\w+/;

/** Seen while the card has the pointer or is selected. The menu of the card and a key test it, too. */
function TestButton({ id, label }: { id: string; label: string }) {
  const onTest = useContext(CardActionsContext)?.onTest;
  if (onTest === undefined) return null;
  return (
    <button
      type="button"
      tabIndex={-1}
      className="graph-card-test nodrag nopan"
      aria-label={text.test(label)}
      title={text.testKey}
      onClick={() => onTest(id)}
    >
      <IconPlayerPlay size={14} stroke={2} aria-hidden />
    </button>
  );
}

/** The ports of a card. In a graph that is only read, the names of those with edges. */
function Ports({ id, label, ports }: { id: string; label: string; ports: readonly Port[] }) {
  const actions = useContext(CardActionsContext);
  return ports.map((port) => {
    const { name, about, used, at, atDeadline } = port;
    if (actions === undefined && !used) return null;
    const top = `${at * 100}%`;
    return [
      actions === undefined ? (
        <Handle
          key={port.id}
          type="source"
          id={port.id}
          position={Position.Right}
          style={{ top }}
        />
      ) : (
        <Handle
          key={port.id}
          type="source"
          id={port.id}
          position={Position.Right}
          className="graph-port"
          data-port={port.id}
          data-used={used || undefined}
          style={{ top }}
          role="button"
          // Hundreds of cards have no room for tab stops. The palette and the menu of a card offer its ports.
          tabIndex={-1}
          aria-label={text.port(about, label)}
          title={text.port(about, label)}
          onClick={({ currentTarget }) => actions.onAddFrom(id, port.id, currentTarget)}
        />
      ),
      name !== undefined && (
        <span
          key={`name ${port.id}`}
          className="graph-port-name"
          data-port={port.id}
          data-used={used || undefined}
          style={{ top }}
          title={about}
        >
          {name}
          {atDeadline && <IconClock size={10} stroke={2} aria-hidden />}
        </span>
      ),
    ];
  });
}
