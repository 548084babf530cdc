import { CloseButton, Paper, Stack, Text, ThemeIcon, VisuallyHidden } from '@mantine/core';
import { useLocalStorage } from '@mantine/hooks';
import { IconCheck } from '@tabler/icons-react';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { RunSummary } from '#client/index.ts';
import { startHere as text } from '#console/src/messages/en/overview.ts';
import { ButtonLink, RunLink } from '#console/src/parts/links.tsx';
import { Section } from '#console/src/parts/page.tsx';
import { Dimmed } from '#console/src/parts/text/dimmed.tsx';
import { durationText } from '#console/src/parts/text/duration.ts';
import { dollarsText } from '#console/src/parts/text/numbers.ts';
import { UserText } from '#console/src/parts/text/user-text.tsx';
import { stepOf } from '#console/src/pages/gates/chosen.ts';
import { recentFailuresQuery } from '#console/src/queries/failures.ts';
import { resumedQuery, triedQuery } from '#console/src/queries/first-steps.ts';
import { approvalsQuery, decidedQuery, latestRunsQuery } from '#console/src/queries/runs.ts';

/** Whether the browser has hidden the first steps of a workspace. */
export const useStartHere = (workspaceId: string) =>
  useLocalStorage({
    key: `workflows.start-here.${workspaceId}`,
    defaultValue: true,
    getInitialValueInEffect: false,
  });

/** What to do first in a workspace with the examples. What has happened marks the steps, not the clicks on them. */
export function StartHere({ onDismiss }: { onDismiss: () => void }) {
  const { data: gates = [] } = useInfiniteQuery(approvalsQuery());
  const { data: decided = [] } = useInfiniteQuery(decidedQuery);
  const { data: failures = [] } = useQuery(recentFailuresQuery);
  const { data: resumed = false } = useQuery(resumedQuery);
  const { data: tried = false } = useQuery(triedQuery);
  const { data: latest } = useQuery(latestRunsQuery);
  const runs = latest?.runs ?? [];
  const gate = gates[0];
  const failure = failures.find((run) => run.resumable);
  const example = runs.find(({ status }) => status === 'success');
  const done = runs.find(
    ({ id, status }) => status === 'success' && decided.some((each) => each.run_id === id),
  );
  return (
    <Section
      title={text.title}
      actions={<CloseButton size="sm" aria-label={text.dismiss} onClick={onDismiss} />}
    >
      <Text size="sm">{text.about}</Text>
      <Paper withBorder component="ol" m={0} p={0} className="first-steps">
        <Step
          done={decided.length > 0}
          title={decided[0]?.title ?? gate?.title ?? text.decide.title}
          about={text.decide.about}
          more={done && <Done run={done} />}
        >
          {gate !== undefined && (
            <ButtonLink
              size="xs"
              to="/approvals/$runId/$nodeId"
              params={{ runId: gate.run_id, nodeId: gate.node_id }}
              search={{ step: stepOf(gate) }}
            >
              {text.decide.act}
            </ButtonLink>
          )}
        </Step>
        <Step done={resumed} title={text.resume.title} about={text.resume.about}>
          {failure !== undefined && (
            <ButtonLink
              size="xs"
              variant="default"
              to="/runs/$runId"
              params={{ runId: failure.id }}
            >
              {text.resume.act}
            </ButtonLink>
          )}
        </Step>
        <Step done={tried} title={text.change.title} about={text.change.about}>
          {example !== undefined && (
            <ButtonLink
              size="xs"
              variant="default"
              to="/workflows/$workflowId/edit"
              params={{ workflowId: example.workflow_id }}
            >
              {text.change.act}
            </ButtonLink>
          )}
        </Step>
      </Paper>
    </Section>
  );
}

function Step({
  done,
  title,
  about,
  more,
  children,
}: {
  done: boolean;
  title: string;
  about: string;
  more?: ReactNode;
  children: ReactNode;
}) {
  return (
    <li className="first-step">
      <ThemeIcon size="md" radius="xl" variant={done ? 'filled' : 'default'} color="success">
        {done && <IconCheck size={14} aria-hidden />}
      </ThemeIcon>
      <Stack gap={0} flex={1} miw={0}>
        <Text size="sm" fw={500}>
          <UserText>{title}</UserText>
          {done && <VisuallyHidden> {text.done}</VisuallyHidden>}
        </Text>
        {more ?? <Dimmed size="xs">{about}</Dimmed>}
      </Stack>
      {!done && children}
    </li>
  );
}

/** What a run that has ended well took, with its result. */
export const Done = ({ run }: { run: RunSummary }) => (
  <Text size="xs" c="dimmed">
    {text.took(durationText(run.duration_ms), dollarsText(run.cost_usd))}{' '}
    <RunLink run={run.id} underline="always">
      {text.openResult}
    </RunLink>
  </Text>
);
