import { Button, Group, Text, Title } from '@mantine/core';
import { useEffect, useMemo, useRef, useState } from 'react';
import type { AnswerConsequences } from '#client/index.ts';
import { consequences as text, listChanges } from '#console/src/messages/en/consequences.ts';
import { Message } from '#console/src/messages/message.tsx';
import { Tag } from '#console/src/parts/tag.tsx';
import { Dimmed } from '#console/src/parts/text/dimmed.tsx';
import { type ComparedEffect, comparedEffects, keyOf } from './compared.ts';
import { EffectRow } from './effect-row.tsx';

/** How many are shown at first, and of these how many items of one node. */
const FIRST = 10;
const FIRST_ITEMS = 3;
/** How many that are marked are shown besides. */
const MARKED = 10;
/** How many more are shown each time. */
const MORE = 500;
/** From here on, the browser lays out only what is in view. */
const LONG = 50;

/** What one answer sets in motion, after a title. With `before`, what differs from that is marked. */
export function AnswerList({
  title,
  answer,
  before,
  same,
  afterCall = false,
}: {
  title: string;
  answer: AnswerConsequences;
  before: AnswerConsequences | undefined;
  /** A sentence instead of the list, if it is shown elsewhere. */
  same?: string | undefined;
  /** Whether it comes after the call that the decision is about, which is not listed. */
  afterCall?: boolean;
}) {
  const effects = useMemo(() => comparedEffects(answer, before), [answer, before]);
  const isEmpty = answer.effects.length === 0;
  return (
    <section aria-label={title}>
      <Group gap="xs" mb={4}>
        <Title order={3} size="h6">
          {title}
        </Title>
        {!isEmpty && <Dimmed size="xs">{countsText(answer)}</Dimmed>}
      </Group>
      {(isEmpty || same !== undefined) && (
        <Dimmed>{same ?? (afterCall ? text.nothingElse : text.nothing)}</Dimmed>
      )}
      {afterCall && !isEmpty && <Dimmed size="xs">{text.afterCall}</Dimmed>}
      {effects.length > 0 && same === undefined && <FoldedList effects={effects} />}
      {same === undefined && <Afterward answer={answer} before={before} />}
    </section>
  );
}

function countsText({ effects }: AnswerConsequences): string {
  const writes = effects.filter(({ effect }) => effect === 'write').length;
  const reads = effects.length - writes;
  if (reads === 0) return text.writes(writes);
  return writes === 0 ? text.reads(reads) : text.both(text.writes(writes), text.reads(reads));
}

function FoldedList({ effects }: { effects: readonly ComparedEffect[] }) {
  const [most, setMost] = useState(FIRST);
  const list = useRef<HTMLUListElement>(null);
  /** The first row that was revealed, which gets the focus: the button can be gone. */
  const revealed = useRef<number>(undefined);
  useEffect(() => {
    if (revealed.current === undefined) return;
    list.current?.querySelectorAll<HTMLElement>('.effect')[revealed.current]?.focus();
    revealed.current = undefined;
  }, [most]);
  const shown = useMemo(() => unfolded(effects, most), [effects, most]);
  const left = effects.length - shown.length;
  const reveal = (): void => {
    const before = new Set(shown);
    revealed.current = unfolded(effects, most + MORE).findIndex((each) => !before.has(each));
    setMost(most + MORE);
  };
  return (
    <>
      <ul className="effects" ref={list} data-long={shown.length >= LONG || undefined}>
        {shown.map((compared) => (
          <EffectRow key={keyOf(compared.effect)} compared={compared} />
        ))}
      </ul>
      {left > 0 && (
        <Button size="compact-sm" variant="subtle" mt={4} onClick={reveal}>
          {text.showMore(Math.min(left, MORE))}
        </Button>
      )}
    </>
  );
}

/**
 * The effects of a folded list, in their order. An effect of each node comes before further items of the same node, so
 * that a long map hides no other node. Some that are marked are there in any case.
 */
function unfolded(effects: readonly ComparedEffect[], most: number): ComparedEffect[] {
  if (effects.length <= most) return [...effects];
  const counts = new Map<string, number>();
  const ranked = effects.map((compared) => {
    const { node_id: node } = compared.effect;
    const rank = counts.get(node) ?? 0;
    counts.set(node, rank + 1);
    return { compared, rank };
  });
  const byRank = ranked.toSorted((one, other) => one.rank - other.rank);
  const isFirst = ({ rank }: { rank: number }, at: number): boolean =>
    at < most && (most > FIRST || rank < FIRST_ITEMS);
  const first = byRank.filter(isFirst);
  const others = byRank.filter((each, at) => !isFirst(each, at));
  const marked = others.filter(({ compared: { mark } }) => mark !== undefined).slice(0, MARKED);
  const shown = new Set([...first, ...marked].map(({ compared }) => compared));
  return effects.filter((compared) => shown.has(compared));
}

/** What follows the listed effects. */
function Afterward({
  answer,
  before,
}: Pick<Parameters<typeof AnswerList>[0], 'answer' | 'before'>) {
  const { next_gates: gates, more } = answer;
  const changed =
    before !== undefined && (before.more !== more || before.next_gates.join() !== gates.join());
  if (gates.length === 0 && more === 0 && !changed) return null;
  return (
    <Text size="sm" mt={4} component="div">
      {changed && (
        <>
          <Tag size="sm" color="warning">
            {listChanges.changed}
          </Tag>{' '}
        </>
      )}
      {gates.length > 0 && (
        <Message text={text.nextGates(gates.length)} values={{ gates: gates.join(', ') }} />
      )}
      {more > 0 && <div>{text.more(more)}</div>}
    </Text>
  );
}
