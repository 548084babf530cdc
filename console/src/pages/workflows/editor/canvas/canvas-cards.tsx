import { Badge } from '@mantine/core';
import { useMemo, useState } from 'react';
import type { Pin } from '#client/index.ts';
import type { Drawing, DrawnNode } from '#console/src/graph/drawn.ts';
import type { Place, Places } from '#console/src/graph/places.ts';
import { cardOf, type CardNode } from '#console/src/graph/node-card.tsx';
import { usedPorts } from '#console/src/graph/ports.ts';
import { editorCanvas as text } from '#console/src/messages/en/workflows/canvas.ts';
import {
  countByNode,
  countWords,
  type Mistake,
  type MistakeCount,
} from '#console/src/pages/workflows/mistakes/mistakes.ts';
import type { RunCards } from '#console/src/pages/workflows/editor/run/run-cards.tsx';

/** What a card is rendered from. The same parts give the same card, which is then not rendered again. */
interface CardParts {
  from: DrawnNode;
  used: string | undefined;
  position: Place;
  count: string;
  pinned: boolean;
  ran: ReturnType<RunCards>;
  selected: boolean;
}

/** The cards of the draft, with the mistakes of each node or else the state of its last run. */
export function useCards({
  mistakes,
  drawing,
  places,
  selected,
  pins,
  runCards,
}: {
  mistakes: readonly Mistake[];
  drawing: Drawing;
  places: Places;
  selected: readonly string[];
  pins: readonly Pin[];
  runCards: RunCards;
}): CardNode[] {
  const counts = useMemo(() => countByNode(mistakes), [mistakes]);
  const [known] = useState(() => new Map<string, { parts: CardParts; card: CardNode }>());
  return useMemo(() => {
    const chosen = new Set(selected);
    const pinnedIds = new Set(pins.map(({ node_id: id }) => id));
    const ports = usedPorts(drawing);
    return drawing.nodes.map((from): CardNode => {
      const { id } = from;
      const count = counts.get(id);
      const parts: CardParts = {
        from,
        used: ports.get(id),
        position: places.get(id) ?? ORIGIN,
        count: JSON.stringify(count ?? null),
        pinned: pinnedIds.has(id),
        ran: runCards(id),
        selected: chosen.has(id),
      };
      const before = known.get(id);
      if (before !== undefined && isSame(before.parts, parts)) return before.card;
      const card = cardIn(parts, count);
      known.set(id, { parts, card });
      return card;
    });
  }, [drawing, places, counts, selected, pins, runCards, known]);
}

const ORIGIN: Place = { x: 0, y: 0 };

const isSame = (a: CardParts, b: CardParts): boolean =>
  a.from === b.from &&
  a.used === b.used &&
  a.position.x === b.position.x &&
  a.position.y === b.position.y &&
  a.count === b.count &&
  a.pinned === b.pinned &&
  a.ran === b.ran &&
  a.selected === b.selected;

function cardIn(
  { from, used, position, pinned, ran, selected }: CardParts,
  count: MistakeCount | undefined,
): CardNode {
  const pin = pinned ? [text.pinned] : [];
  const said = [countWords(count ?? NO_MISTAKES), ...pin, ran?.spoken];
  const detail = [...pin, ran?.detail].filter(Boolean);
  return cardOf(from, {
    used,
    position,
    selected,
    card: {
      ...(detail.length > 0 && { detail: detail.join(' · ') }),
      mark: count === undefined ? ran?.mark : <MistakeMark count={count} />,
      colour: count === undefined ? ran?.colour : colourOf(count),
      failedShare: ran?.failedShare,
      spoken: said.filter(Boolean).join(', ') || undefined,
    },
  });
}

const NO_MISTAKES: MistakeCount = { errors: 0, warnings: 0 };

function MistakeMark({ count }: { count: MistakeCount }) {
  return (
    <Badge size="xs" tt="none" color={colourOf(count)} variant="filled" autoContrast>
      {countWords(count)}
    </Badge>
  );
}

const colourOf = ({ errors }: MistakeCount): string => (errors > 0 ? 'danger' : 'warning');
