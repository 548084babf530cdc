import { Group, Select, Stack, Text } from '@mantine/core';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { ListedInboundEvent, Workflow } from '#client/index.ts';
import { words } from '#console/src/messages/en/words.ts';
import { eventLog as text } from '#console/src/messages/en/workflows/inbound-events.ts';
import { Snippet } from '#console/src/parts/code/snippet.tsx';
import { LoadedList } from '#console/src/parts/data/loaded-list.tsx';
import { RowTable } from '#console/src/parts/data/row-table.tsx';
import { Empty } from '#console/src/parts/empty.tsx';
import { Section } from '#console/src/parts/page.tsx';
import { Dimmed } from '#console/src/parts/text/dimmed.tsx';
import { useMay } from '#console/src/queries/identity.ts';
import { inboundEventsQuery } from '#console/src/queries/inbound-events.ts';
import { webhookQuery } from '#console/src/queries/workspace.ts';
import { useExampleCommand } from '#console/src/pages/inbound/use-example-command.ts';
import { EventRow } from './event-row.tsx';
import { outcomes } from './event-texts.ts';
import { ReplayProgress } from './replay-progress.tsx';
import { ReplayRange } from './replay-range.tsx';

const columns = [text.received, text.outcome, text.runOrReason, words.source];
const MINUTE_MS = 60_000;
/** The periods for which events are shown, in minutes. */
const spans = [
  { label: text.lastHour, value: '60' },
  { label: text.lastDay, value: '1440' },
  { label: text.lastWeek, value: '10080' },
];

/** What the webhook of a workflow received, newest first. */
export function EventLog({ workflow }: { workflow: Workflow }) {
  const [outcome, setOutcome] = useState<ListedInboundEvent['outcome']>();
  const [span, setSpan] = useState<Span>();
  const events = useInfiniteQuery(inboundEventsQuery(workflow.id, { outcome, since: span?.since }));
  const mayRun = useMay('run_workflows');
  return (
    <Section title={words.events} actions={mayRun && <ReplayRange workflowId={workflow.id} />}>
      <ReplayProgress workflowId={workflow.id} mayCancel={mayRun} />
      <Filters {...{ outcome, setOutcome, span, setSpan }} />
      <LoadedList
        query={events}
        empty={
          outcome === undefined && span === undefined ? (
            <NoEvents workflow={workflow} />
          ) : (
            <Empty {...text.noMatches} />
          )
        }
      >
        {(rows) => (
          <RowTable
            label={words.events}
            columns={[
              ...columns,
              { label: text.size, numbers: true },
              { label: words.actions, hidden: true },
            ]}
            minWidth={820}
          >
            {rows.map((event) => (
              <EventRow key={event.id} of={event} mayReplay={mayRun} />
            ))}
          </RowTable>
        )}
      </LoadedList>
      <Dimmed size="xs">{text.kept}</Dimmed>
    </Section>
  );
}

interface Span {
  minutes: string;
  /** ISO 8601. */
  since: string;
}

function Filters({
  outcome,
  setOutcome,
  span,
  setSpan,
}: {
  outcome: ListedInboundEvent['outcome'] | undefined;
  setOutcome: (outcome: ListedInboundEvent['outcome'] | undefined) => void;
  span: Span | undefined;
  setSpan: (span: Span | undefined) => void;
}) {
  return (
    <Group gap="sm">
      <Select
        label={text.outcome}
        placeholder={text.all}
        clearable
        clearButtonProps={{ 'aria-label': text.allOutcomes }}
        w={180}
        data={Object.entries(outcomes).map(([value, { label }]) => ({ value, label }))}
        value={outcome ?? null}
        onChange={(chosen) => setOutcome((chosen ?? undefined) as typeof outcome)}
      />
      <Select
        label={text.period}
        placeholder={text.all}
        clearable
        clearButtonProps={{ 'aria-label': text.anyTime }}
        w={180}
        data={spans}
        value={span?.minutes ?? null}
        onChange={(minutes) =>
          setSpan(
            minutes === null
              ? undefined
              : {
                  minutes,
                  since: new Date(Date.now() - Number(minutes) * MINUTE_MS).toISOString(),
                },
          )
        }
      />
    </Group>
  );
}

function NoEvents({ workflow }: { workflow: Workflow }) {
  const { data: webhook } = useQuery(webhookQuery(workflow.id));
  const command = useExampleCommand(workflow, webhook);
  return (
    <Stack gap={0}>
      <Empty title={text.empty.title}>
        <Dimmed>{webhook?.enabled === true ? text.empty.about : text.empty.aboutDisabled}</Dimmed>
      </Empty>
      {command !== undefined && (
        <Stack gap="xs">
          <Text size="sm">{text.empty.sendFirst}</Text>
          <Snippet text={command} what={text.empty.theCommand} />
        </Stack>
      )}
    </Stack>
  );
}
