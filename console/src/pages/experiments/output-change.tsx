import { Box, Text } from '@mantine/core';
import { useMemo } from 'react';
import type { ComparedRun } from '#client/index.ts';
import { comparedRuns as text } from '#console/src/messages/en/workflows/experiments.ts';
import { exactJson } from '#console/src/parts/code/exact-json.ts';
import { Dimmed } from '#console/src/parts/text/dimmed.tsx';
import { countText } from '#console/src/parts/text/numbers.ts';
import { UserText } from '#console/src/parts/text/user-text.tsx';
import { changedExcerpts, wordChanges } from '#console/src/parts/text/word-changes.ts';

type Difference = NonNullable<ComparedRun['diff']>['differences'][number];
type Side = 'before' | 'after';

/** The other differences are counted; the comparison of the two runs has them all. */
const SHOWN = 3;
/** The maximum number of displayed characters of a value. */
const VALUE_CHARACTERS = 300;

/** One side of what has changed in the output of a run, with the changed words marked. */
export function OutputChange({ run, side }: { run: ComparedRun; side: Side }) {
  const { outcome, reason, diff } = run;
  const differences = diff?.differences ?? [];
  if (outcome === 'equal') return side === 'before' ? <Dimmed>{text.sameOutput}</Dimmed> : null;
  const others = differences.length - SHOWN;
  return (
    <Box miw={120}>
      {differences.slice(0, SHOWN).map((difference) => (
        <OneChange key={difference.path} difference={difference} side={side} />
      ))}
      {side === 'after' && others > 0 && (
        <Dimmed size="xs">
          {diff?.more === true ? text.more : text.moreChanges(countText(others))}
        </Dimmed>
      )}
      {side === 'after' && reason !== null && (
        <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
          <UserText>{reason}</UserText>
        </Text>
      )}
    </Box>
  );
}

function OneChange({ difference, side }: { difference: Difference; side: Side }) {
  const { path, change, from, to } = difference;
  const parts = useMemo(() => {
    const shown = changedExcerpts(shownValue(from), shownValue(to), VALUE_CHARACTERS);
    return wordChanges(shown.before, shown.after);
  }, [from, to]);
  const missing = change === (side === 'before' ? 'added' : 'removed');
  const [marked, Mark] =
    side === 'before' ? (['removed', 'del'] as const) : (['added', 'ins'] as const);
  return (
    <Text size="sm" component="div" dir="auto" style={{ overflowWrap: 'anywhere' }}>
      {path !== '' && (
        <Dimmed size="xs">
          <UserText>{path}</UserText>
        </Dimmed>
      )}
      {missing ? (
        <Dimmed>{text.notThere}</Dimmed>
      ) : (
        parts.map((part, at) =>
          part.kind === 'same' ? (
            <UserText key={at}>{part.text}</UserText>
          ) : (
            part.kind === marked && (
              <Mark key={at} className={marked}>
                <UserText>{part.text}</UserText>
              </Mark>
            )
          ),
        )
      )}
    </Text>
  );
}

const shownValue = (value: unknown): string => {
  if (value === undefined) return '';
  return typeof value === 'string' ? value : exactJson(value);
};
