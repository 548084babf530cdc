import { Table } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import type { RunSummary, Workflow } from '../../../../client/index.ts';
import { Empty } from '../../parts/empty.tsx';
import { TextLink } from '../../parts/links.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { LoadMore } from '../../parts/data/load-more.tsx';
import { dollarsText } from '../../parts/text/numbers.ts';
import { Section } from '../../parts/page.tsx';
import { StateBadge } from '../../parts/state-badge.tsx';
import { durationText } from '../../parts/text/duration.ts';
import { When } from '../../parts/text/time.tsx';
import { runsQuery } from '../../queries/runs.ts';

const READ_EVERY_MS = 5_000;
const NO_SEARCH = { step: undefined, tab: undefined };

/** The runs of a workflow, newest first. */
export function RunsTab({ workflow }: { workflow: Workflow }) {
  const query = useInfiniteQuery({
    ...runsQuery({ workflow_id: workflow.id }),
    refetchInterval: READ_EVERY_MS,
  });
  return (
    <Section
      title="Runs"
      actions={
        <TextLink
          to="/runs"
          search={{ workflow_id: workflow.id, status: undefined, trigger: undefined }}
          size="sm"
        >
          View in Runs
        </TextLink>
      }
    >
      <Loaded query={query}>
        {({ pages }) => {
          const runs = pages.flatMap((page) => page.runs);
          return runs.length === 0 ? (
            <Empty title="No runs yet" />
          ) : (
            <>
              <RunTable runs={runs} />
              <LoadMore query={query} />
            </>
          );
        }}
      </Loaded>
    </Section>
  );
}

function RunTable({ runs }: { runs: readonly RunSummary[] }) {
  return (
    <Table.ScrollContainer minWidth={640} tabIndex={0} aria-label="Runs, scrollable">
      <Table aria-label="Runs of the workflow">
        <Table.Thead style={{ whiteSpace: 'nowrap' }}>
          <Table.Tr>
            <Table.Th>Run</Table.Th>
            <Table.Th>Status</Table.Th>
            <Table.Th>Started</Table.Th>
            <Table.Th>Started by</Table.Th>
            <Table.Th className="numbers">Version</Table.Th>
            <Table.Th className="numbers">Duration</Table.Th>
            <Table.Th className="numbers">Cost</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {runs.map((run) => (
            <Table.Tr key={run.id}>
              <Table.Td>
                <TextLink
                  to="/runs/$runId"
                  params={{ runId: run.id }}
                  search={NO_SEARCH}
                  ff="monospace"
                  size="sm"
                >
                  {run.id}
                </TextLink>
              </Table.Td>
              <Table.Td>
                <StateBadge state={run.status} />
              </Table.Td>
              <Table.Td>
                <When at={run.created_at} ago />
              </Table.Td>
              <Table.Td>{run.trigger}</Table.Td>
              <Table.Td className="numbers">{run.workflow_version}</Table.Td>
              <Table.Td className="numbers">
                {run.started_at === null ? '–' : durationText(run.duration_ms)}
              </Table.Td>
              <Table.Td className="numbers">{dollarsText(run.cost_usd)}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}
