import { Alert, Group, Progress, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { Backtest } from '#client/index.ts';
import { api } from '#console/src/api.ts';
import { backtestResult as text } from '#console/src/messages/en/governance/backtests.ts';
import { Message } from '#console/src/messages/message.tsx';
import { useAction } from '#console/src/parts/forms/action.ts';
import { ActionButton } from '#console/src/parts/forms/action-button.tsx';
import { Loaded } from '#console/src/parts/loaded.tsx';
import { countText } from '#console/src/parts/text/numbers.ts';
import { When } from '#console/src/parts/text/time.tsx';
import { UserText } from '#console/src/parts/text/user-text.tsx';
import { backtestQuery, backtestsKey } from '#console/src/queries/backtests.ts';
import { BacktestSteps } from './backtest-steps.tsx';
import { sentencesOf } from './backtest-texts.ts';

/** The progress of a backtest, and its result in sentences, with the steps. */
export function BacktestResult({ id, mayManage }: { id: string; mayManage: boolean }) {
  const query = useQuery(backtestQuery(id));
  return (
    <Loaded query={query}>
      {(backtest) => (
        <Stack gap="sm" role="region" aria-label={text.label}>
          <Text size="sm" c="dimmed">
            <Message
              text={backtest.workflow_id === null ? text.since : text.sinceOneWorkflow}
              values={{ since: <When at={backtest.since} /> }}
            />{' '}
            <Tried backtest={backtest} />
          </Text>
          <State backtest={backtest} mayManage={mayManage} />
          {backtest.status !== 'running' && (
            <>
              <Stack gap={4}>
                {sentencesOf(backtest.summary).map((sentence) => (
                  <Text key={sentence}>{sentence}</Text>
                ))}
              </Stack>
              <BacktestSteps backtest={backtest} />
            </>
          )}
        </Stack>
      )}
    </Loaded>
  );
}

function Tried({ backtest: { created_at, created_by_name } }: { backtest: Backtest }) {
  const time = <When at={created_at} ago />;
  return created_by_name === null ? (
    <Message text={text.tried} values={{ time }} />
  ) : (
    <Message text={text.triedBy} values={{ time, name: created_by_name }} />
  );
}

function State({ backtest, mayManage }: { backtest: Backtest; mayManage: boolean }) {
  const cancel = useAction(() => api().cancelBacktest(backtest.id), {
    changes: [backtestsKey],
    done: text.cancelled,
  });
  const { done, total } = backtest.progress;
  switch (backtest.status) {
    case 'done':
      return null;
    case 'failed':
      return (
        <Alert color="danger" title={text.failed}>
          <UserText>{backtest.error ?? ''}</UserText>
        </Alert>
      );
    case 'cancelled':
      return <Alert title={text.isCancelled}>{text.cancelledAbout}</Alert>;
    case 'running':
      return (
        <Stack gap={4}>
          <Group justify="space-between">
            <Text size="sm" role="status">
              {total === null
                ? text.steps(countText(done))
                : text.stepsOf(countText(done), countText(total))}
            </Text>
            {mayManage && (
              <ActionButton size="compact-sm" action={cancel}>
                {text.cancel}
              </ActionButton>
            )}
          </Group>
          <Progress
            value={total === null || total === 0 ? 0 : (100 * done) / total}
            aria-label={text.progress}
          />
        </Stack>
      );
  }
}
