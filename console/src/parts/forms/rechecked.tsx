import { Alert, Checkbox, Stack, Text } from '@mantine/core';
import type { PendingGate } from '#client/index.ts';
import { rechecked as text } from '#console/src/messages/en/gates.ts';
import { Message } from '#console/src/messages/message.tsx';
import { exactJson, exactText } from '#console/src/parts/code/exact-json.ts';
import { ChangedValue } from '#console/src/parts/data/changed-value.tsx';
import { pathText } from '#console/src/parts/json/json-rows.ts';
import { Dimmed } from '#console/src/parts/text/dimmed.tsx';
import { When } from '#console/src/parts/text/time.tsx';
import { UserText } from '#console/src/parts/text/user-text.tsx';
import type { DecisionState } from './use-decision.ts';

type Stale = NonNullable<PendingGate['stale']>;

/** For a gate with a recheck: the reads that an approval repeats, and how they differed the last time. */
export function Rechecked({
  gate: { recheck, stale },
  decision: { accepted, accept },
}: {
  gate: Pick<PendingGate, 'recheck' | 'stale'>;
  decision: Pick<DecisionState, 'accepted' | 'accept'>;
}) {
  if (recheck === undefined) return null;
  const { reads, not_repeated: others } = recheck;
  return (
    <Stack gap="xs">
      {stale !== undefined && (
        <Alert color="warning" role="alert">
          <Stack gap="xs">
            <Text size="sm" fw={600}>
              {text.stale}
            </Text>
            <Text size="sm">
              <Message text={text.staleAbout} values={{ at: <When at={stale.at} ago /> }} />
            </Text>
            <Differences stale={stale} />
            <Checkbox
              label={text.accept}
              description={text.acceptAbout}
              checked={accepted}
              onChange={(event) => accept(event.currentTarget.checked)}
            />
          </Stack>
        </Alert>
      )}
      {reads.length > 0 && (
        <Dimmed size="xs">
          <Message text={text.repeats} values={{ steps: keysOf(reads) }} />{' '}
          {others.length > 0 && (
            <Message text={text.notRepeated} values={{ steps: keysOf(others) }} />
          )}
        </Dimmed>
      )}
    </Stack>
  );
}

const keysOf = (steps: readonly { step_key: string }[]): string =>
  steps.map(({ step_key }) => step_key).join(', ');

const Differences = ({ stale: { differences, more } }: { stale: Stale }) => (
  <>
    {differences.map(({ step_key, path, before, now, problem }) => (
      <Text
        key={`${step_key} ${JSON.stringify(path)}`}
        size="sm"
        style={{ overflowWrap: 'anywhere' }}
      >
        <strong>
          <UserText>{exactText(pathText([step_key, ...path]))}</UserText>
        </strong>
        :{' '}
        {problem === undefined ? (
          <ChangedValue
            before={<UserText>{exactJson(before)}</UserText>}
            after={<UserText>{exactJson(now)}</UserText>}
          />
        ) : (
          <Message text={text.problem} values={{ problem }} />
        )}
      </Text>
    ))}
    {more > 0 && <Text size="sm">{text.more(more)}</Text>}
  </>
);
