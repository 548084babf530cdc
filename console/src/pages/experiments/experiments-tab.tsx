import { Table, Text } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import type { ListedExperiment, Workflow } from '#client/index.ts';
import { words } from '#console/src/messages/en/words.ts';
import { experimentsTab as text } from '#console/src/messages/en/workflows/experiments.ts';
import { LoadedList } from '#console/src/parts/data/loaded-list.tsx';
import { Row, RowTable } from '#console/src/parts/data/row-table.tsx';
import { Empty } from '#console/src/parts/empty.tsx';
import { TextLink } from '#console/src/parts/links.tsx';
import { Section } from '#console/src/parts/page.tsx';
import { countText } from '#console/src/parts/text/numbers.ts';
import { When } from '#console/src/parts/text/time.tsx';
import { experimentsQuery } from '#console/src/queries/experiments.ts';
import { candidateText, ExperimentStatus } from './outcome.tsx';
import { StartExperiment } from './start-experiment.tsx';

/** The experiments of a workflow, newest first. */
export function ExperimentsTab({ workflow }: { workflow: Workflow }) {
  const query = useInfiniteQuery(experimentsQuery(workflow.id));
  return (
    <Section title={text.title} actions={<StartExperiment workflow={workflow} />}>
      {workflow.requires_experiment && <Text size="sm">{text.required}</Text>}
      <LoadedList query={query} gap="md" empty={<Empty {...text.empty} />}>
        {(experiments) => <ExperimentTable experiments={experiments} />}
      </LoadedList>
    </Section>
  );
}

function ExperimentTable({ experiments }: { experiments: readonly ListedExperiment[] }) {
  return (
    <RowTable
      label={text.label}
      columns={[
        text.candidate,
        words.status,
        { label: words.runs, numbers: true },
        { label: text.equal, numbers: true },
        { label: text.changed, numbers: true },
        { label: text.failed, numbers: true },
        { label: text.checksWon, numbers: true },
        { label: text.checksLost, numbers: true },
        words.started,
      ]}
    >
      {experiments.map((experiment) => (
        <ExperimentRow key={experiment.id} experiment={experiment} />
      ))}
    </RowTable>
  );
}

function ExperimentRow({ experiment }: { experiment: ListedExperiment }) {
  const { id, status, progress, summary, created_at: at } = experiment;
  const { equal, changed, failed, checks } = summary;
  const runs = progress.total ?? progress.done;
  const numbers = { runs, equal, changed, failed, won: checks.won, lost: checks.lost };
  return (
    <Row>
      <TextLink to="/experiments/$experimentId" params={{ experimentId: id }}>
        {candidateText(experiment)}
      </TextLink>
      <ExperimentStatus status={status} />
      {Object.entries(numbers).map(([column, count]) => (
        <Table.Td key={column} className="numbers">
          {countText(count)}
        </Table.Td>
      ))}
      <When at={at} ago />
    </Row>
  );
}
