import { Table } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import type { RunSummary, Workflow } from '#client/index.ts';
import { words } from '#console/src/messages/en/words.ts';
import { runTimes, triggers } from '#console/src/messages/en/parts/values.ts';
import { runsTab as text } from '#console/src/messages/en/workflows/workflow.ts';
import { Empty } from '#console/src/parts/empty.tsx';
import { RunLink, TextLink } from '#console/src/parts/links.tsx';
import { LoadedList } from '#console/src/parts/data/loaded-list.tsx';
import { Cost } from '#console/src/parts/text/cost.tsx';
import { Section } from '#console/src/parts/page.tsx';
import { RunBadge, RunTags } from '#console/src/parts/run-badges.tsx';
import { shortId } from '#console/src/parts/text/short-id.ts';
import { durationText } from '#console/src/parts/text/duration.ts';
import { When } from '#console/src/parts/text/time.tsx';
import { runsQuery } from '#console/src/queries/runs.ts';
import { Row, RowTable } from '#console/src/parts/data/row-table.tsx';

const READ_EVERY_MS = 5_000;

/** The runs of a workflow, newest first. */
export function RunsTab({ workflow }: { workflow: Workflow }) {
  const query = useInfiniteQuery({
    ...runsQuery({ workflow_id: workflow.id, mode: 'live' }),
    refetchInterval: READ_EVERY_MS,
  });
  return (
    <Section
      title={words.runs}
      actions={
        <TextLink
          to="/runs"
          search={{ workflow_id: workflow.id, status: undefined, trigger: undefined }}
          size="sm"
        >
          {text.viewInRuns}
        </TextLink>
      }
    >
      <LoadedList query={query} empty={<Empty {...text.empty} />}>
        {(runs) => <RunTable runs={runs} />}
      </LoadedList>
    </Section>
  );
}

function RunTable({ runs }: { runs: readonly RunSummary[] }) {
  return (
    <RowTable
      label={text.table}
      minWidth={640}
      columns={[
        words.run,
        words.status,
        words.started,
        words.startedBy,
        { label: words.version, numbers: true },
        { label: runTimes.working, numbers: true },
        { label: words.cost, numbers: true },
      ]}
    >
      {runs.map((run) => (
        <Row key={run.id}>
          <RunLink run={run.id} size="sm" title={run.id}>
            {shortId(run.id)}
          </RunLink>
          <Table.Td>
            <RunBadge run={run} /> <RunTags run={run} />
          </Table.Td>
          <When at={run.created_at} ago />
          <Table.Td>{triggers[run.trigger]}</Table.Td>
          <Table.Td className="numbers">{run.of_draft ? '–' : run.workflow_version}</Table.Td>
          <Table.Td className="numbers">
            {run.started_at === null ? '–' : durationText(run.duration_ms)}
          </Table.Td>
          <Table.Td className="numbers">
            <Cost usd={run.cost_usd} unpriced={run.unpriced_steps} />
          </Table.Td>
        </Row>
      ))}
    </RowTable>
  );
}
