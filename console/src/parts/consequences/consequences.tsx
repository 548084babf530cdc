import './consequences.css';
import { Stack } from '@mantine/core';
import { memo } from 'react';
import type { AnswerConsequences, Consequences, Gate } from '#client/index.ts';
import { consequences as text } from '#console/src/messages/en/consequences.ts';
import { exactJson } from '#console/src/parts/code/exact-json.ts';
import { Dimmed } from '#console/src/parts/text/dimmed.tsx';
import { AnswerList } from './answer-list.tsx';

/** What each answer to a gate sets in motion. With `before`, what differs from these lists is marked. */
export const ConsequenceLists = memo(function ConsequenceLists({
  shown,
  before,
  plain = shown,
  kind,
  decides = true,
}: {
  kind: Gate['kind'];
  /** Whether the reader can decide. */
  decides?: boolean;
  shown: Consequences;
  before?: Consequences | undefined;
  /** The lists without input, which a deadline does not have. */
  plain?: Consequences | undefined;
}) {
  const { approve, reject, timeout } = shown;
  return (
    <Stack gap="sm" role="group" aria-label={text.label}>
      {hidesArguments(shown) && <Dimmed>{text.mayNotView}</Dimmed>}
      <AnswerList
        title={decides ? text.approve : text.approved}
        answer={approve}
        before={before?.approve}
        afterCall={kind === 'tool_call'}
      />
      <AnswerList
        title={decides ? text.reject : text.rejected}
        answer={reject}
        before={before?.reject}
      />
      {timeout !== undefined && <Timeout {...{ timeout, shown, plain }} before={before?.timeout} />}
    </Stack>
  );
});

const hidesArguments = (shown: Consequences): boolean =>
  Object.values(shown).some(({ effects }: AnswerConsequences) =>
    effects.some((effect) => effect.arguments === null),
  );

/** A deadline mostly does what one of the other answers does. */
function Timeout({
  timeout,
  shown,
  plain,
  before,
}: {
  timeout: AnswerConsequences;
  shown: Consequences;
  plain: Consequences;
  before: AnswerConsequences | undefined;
}) {
  const same = sameAs(timeout, { shown, plain });
  return <AnswerList title={text.timeout} answer={timeout} before={before} same={same} />;
}

function sameAs(
  timeout: AnswerConsequences,
  { shown, plain }: { shown: Consequences; plain: Consequences },
): string | undefined {
  if (timeout.effects.length === 0) return undefined;
  const own = exactJson(timeout);
  if (own === exactJson(shown.approve)) return text.sameAsApprove;
  if (own === exactJson(plain.approve)) return text.sameAsPlain;
  return own === exactJson(shown.reject) ? text.sameAsReject : undefined;
}
