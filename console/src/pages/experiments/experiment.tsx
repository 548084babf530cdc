import { Group, Progress, Stack, Text } from '@mantine/core';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { useEffect } from 'react';
import type { Experiment } from '#client/index.ts';
import { api } from '#console/src/api.ts';
import { words } from '#console/src/messages/en/words.ts';
import {
  experimentPage as texts,
  experimentSummary,
} from '#console/src/messages/en/workflows/experiments.ts';
import { Message } from '#console/src/messages/message.tsx';
import { Facts } from '#console/src/parts/data/facts.tsx';
import { useAction } from '#console/src/parts/forms/action.ts';
import { ActionButton } from '#console/src/parts/forms/action-button.tsx';
import { WorkflowLink } from '#console/src/parts/links.tsx';
import { Loaded } from '#console/src/parts/loaded.tsx';
import { Page, Section } from '#console/src/parts/page.tsx';
import { durationText } from '#console/src/parts/text/duration.ts';
import { countText, dollarsText } from '#console/src/parts/text/numbers.ts';
import { Dimmed } from '#console/src/parts/text/dimmed.tsx';
import { When } from '#console/src/parts/text/time.tsx';
import { UserText } from '#console/src/parts/text/user-text.tsx';
import { experimentQuery, experimentsKey } from '#console/src/queries/experiments.ts';
import { useMay } from '#console/src/queries/identity.ts';
import { workflowQuery } from '#console/src/queries/workflows.ts';
import { ComparedRuns } from './compared-runs.tsx';
import { candidateText, ExperimentStatus } from './outcome.tsx';
import { VerdictBanner } from './verdict-banner.tsx';

/** One experiment: its progress, its summary, and its runs, worst first. */
export function ExperimentPage() {
  const { experimentId } = useParams({ from: '/inside/experiments/$experimentId' });
  const query = useInfiniteQuery(experimentQuery(experimentId));
  const { hasNextPage, isFetching, fetchNextPage } = query;
  // All of them, because runs with the same change are one row.
  useEffect(() => {
    if (hasNextPage && !isFetching) void fetchNextPage();
  }, [hasNextPage, isFetching, fetchNextPage]);
  const experiment = query.data?.pages[0];
  return (
    <Page
      title={experiment === undefined ? texts.title : texts.titleOf(candidateText(experiment))}
      about={experiment !== undefined && <About experiment={experiment} />}
      actions={experiment !== undefined && <CancelButton experiment={experiment} />}
    >
      <Loaded query={query}>
        {({ pages }) => (
          <Stack gap="xl">
            <Running experiment={pages[0]!} />
            <VerdictBanner experiment={pages[0]!} />
            <Section title={texts.runs}>
              <ComparedRuns runs={pages.flatMap((page) => page.runs)} status={pages[0]!.status} />
            </Section>
            <Summary experiment={pages[0]!} />
          </Stack>
        )}
      </Loaded>
    </Page>
  );
}

function About({ experiment }: { experiment: Experiment }) {
  const { workflow_id: workflowId, status, created_by_name: by, created_at: at } = experiment;
  const { data: workflow } = useQuery(workflowQuery(workflowId));
  return (
    <Group gap="xs">
      <ExperimentStatus status={status} />
      <span>
        <Message
          text={texts.about}
          values={{
            workflow: (
              <WorkflowLink workflow={workflowId} tab="experiments">
                <UserText>{workflow?.name ?? workflowId}</UserText>
              </WorkflowLink>
            ),
            starter: by ?? texts.anApiKey,
            when: <When at={at} ago />,
          }}
        />
      </span>
    </Group>
  );
}

function CancelButton({ experiment: { id, status } }: { experiment: Experiment }) {
  const mayRun = useMay('run_workflows');
  const cancel = useAction(() => api().cancelExperiment(id), {
    changes: [experimentsKey],
    done: texts.cancelled,
  });
  if (!mayRun || status !== 'running') return null;
  return (
    <ActionButton
      action={cancel}
      ask={{ ...texts.confirmCancel, confirm: texts.cancel }}
      variant="default"
    >
      {texts.cancel}
    </ActionButton>
  );
}

function Running({ experiment }: { experiment: Experiment }) {
  const { status, error, progress } = experiment;
  if (status === 'failed') {
    return (
      <Text c="danger">
        <Message text={texts.failed} values={{ error }} />
      </Text>
    );
  }
  const { done, total } = progress;
  if (status === 'done') return null;
  const text = texts.runsDone(countText(done), total === null ? '…' : countText(total));
  return (
    <Stack gap={4}>
      <Progress
        value={total === null || total === 0 ? 0 : (100 * done) / total}
        aria-label={text}
        animated={status === 'running'}
      />
      <Text size="sm" role="status">
        {text}
      </Text>
    </Stack>
  );
}

function Summary({ experiment }: { experiment: Experiment }) {
  const { summary, budget_usd: budget, spent_usd: spent } = experiment;
  const { equal, changed, failed, unrecorded, refused, checks } = summary;
  return (
    <Section title={experimentSummary.title}>
      <Facts
        of={[
          [experimentSummary.equal, countText(equal)],
          [experimentSummary.changed, countText(changed)],
          [experimentSummary.failed, countText(failed)],
          [experimentSummary.withoutResult, countText(unrecorded + refused)],
          [experimentSummary.checksWon, countText(checks.won)],
          [experimentSummary.checksLost, countText(checks.lost)],
          [words.cost, <Total key="cost" of={summary.cost_usd} text={dollarsText} />],
          [words.duration, <Total key="duration" of={summary.duration_ms} text={signedDuration} />],
          [
            experimentSummary.spent,
            budget === null
              ? dollarsText(spent)
              : experimentSummary.spentOf(dollarsText(spent), dollarsText(budget)),
          ],
        ]}
      />
    </Section>
  );
}

function signedDuration(ms: number): string {
  const shown = durationText(Math.abs(ms));
  return ms < 0 && shown !== durationText(0) ? `−${shown}` : shown;
}

function Total({
  of: { base, candidate, difference },
  text,
}: {
  of: Experiment['summary']['cost_usd'];
  text: (amount: number) => string;
}) {
  return (
    <>
      {text(base)} → {text(candidate)}
      {difference !== null && difference.low === 0 && difference.high === 0 && (
        <Dimmed size="xs">{experimentSummary.noDifference}</Dimmed>
      )}
      {difference !== null && (difference.low !== 0 || difference.high !== 0) && (
        <Text size="xs" c="dimmed">
          <Message
            text={experimentSummary.perRun}
            values={{
              mean: text(difference.mean),
              low: text(difference.low),
              high: text(difference.high),
            }}
          />
        </Text>
      )}
    </>
  );
}
