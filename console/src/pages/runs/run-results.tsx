import { Anchor, Badge, Box, Stack, Table, Text } from '@mantine/core';
import { IconCheck, IconX } from '@tabler/icons-react';
import type { Run } from '../../../../client/index.ts';
import { Empty } from '../../parts/empty.tsx';
import { UserText } from '../../parts/text/user-text.tsx';
import { JsonView } from '../../parts/code/json-view.tsx';
import { When } from '../../parts/text/time.tsx';
import { useWindowed } from '../../parts/data/windowed.ts';
import { Part } from './part.tsx';
import { hasEnded, webAddress } from './run-facts.ts';
import type { Selection } from './use-selection.ts';

/** The input, state and output of the run. */
export function RunData({ run }: { run: Run }) {
  return (
    <Stack gap="md">
      <Part title="Input">
        <JsonView value={run.input} what="the input" />
      </Part>
      <Part title={hasEnded(run) ? 'State' : 'State so far'}>
        <JsonView value={run.state} what="the state" />
      </Part>
      <Part title="Output">
        {run.output === null ? (
          <Text size="sm" c="dimmed">
            The output appears when the run succeeds.
          </Text>
        ) : (
          <JsonView value={run.output} what="the output" />
        )}
      </Part>
    </Stack>
  );
}

/** The results of the workflow's checks for the run. */
export function RunChecks({ run: { evals, status } }: { run: Run }) {
  if (evals === null) {
    return (
      <Empty title="No check results">
        <Text c="dimmed">
          {status === 'success'
            ? 'The workflow had no checks when the run ended.'
            : 'Checks run after a run succeeds.'}
        </Text>
      </Empty>
    );
  }
  return (
    <Table.ScrollContainer minWidth={640}>
      <Table aria-label="Checks">
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Check</Table.Th>
            <Table.Th>Result</Table.Th>
            <Table.Th>Type</Table.Th>
            <Table.Th>Expected</Table.Th>
            <Table.Th>Actual</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {evals.results.map(({ name, type, passed, expected, actual, message }, index) => (
            <Table.Tr key={index}>
              <Table.Td>
                <UserText>{name}</UserText>
                {message !== undefined && (
                  <Text size="xs" c="dimmed">
                    <UserText>{message}</UserText>
                  </Text>
                )}
              </Table.Td>
              <Table.Td>
                <Badge
                  tt="none"
                  variant="light"
                  color={passed ? 'teal' : 'red'}
                  leftSection={passed ? <IconCheck size={12} /> : <IconX size={12} />}
                >
                  {passed ? 'passed' : 'failed'}
                </Badge>
              </Table.Td>
              <Table.Td>{type}</Table.Td>
              <Table.Td>
                <JsonView value={expected} what="the expected value" />
              </Table.Td>
              <Table.Td>
                <JsonView value={actual} what="the actual value" />
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}

const CHECKPOINT_ROW_HEIGHT = 38;

/** The checkpoints of the run, from which it can be resumed. */
export function RunCheckpoints({ run, select }: { run: Run; select: Selection['select'] }) {
  const { checkpoints, temporal } = run;
  const { frame, rows, before, after } = useWindowed(checkpoints.length, CHECKPOINT_ROW_HEIGHT);
  const history = webAddress(temporal.url);
  if (checkpoints.length === 0) {
    return (
      <Empty title="No checkpoints yet">
        <Text c="dimmed">
          Each completed step is a checkpoint. A resumed run continues from there.
        </Text>
      </Empty>
    );
  }
  return (
    <Stack gap="xs">
      {history !== undefined && (
        <Text size="sm">
          Event numbers refer to the{' '}
          <Anchor href={history} target="_blank" rel="noreferrer">
            execution history
          </Anchor>
          .
        </Text>
      )}
      <Box
        ref={frame}
        mah={480}
        style={{ overflow: 'auto' }}
        tabIndex={0}
        role="region"
        aria-label="Checkpoints, scrollable"
      >
        <CheckpointTable
          checkpoints={checkpoints}
          before={before}
          rows={rows}
          select={select}
          after={after}
        />
      </Box>
    </Stack>
  );
}

function CheckpointTable({
  checkpoints,
  before,
  rows,
  select,
  after,
}: {
  checkpoints: Run['checkpoints'];
  before: number;
  rows: readonly number[];
  select: Selection['select'];
  after: number;
}) {
  return (
    <Table className="steps-table" aria-label="Checkpoints" aria-rowcount={checkpoints.length + 1}>
      <Table.Thead>
        <Table.Tr>
          <Table.Th>Step</Table.Th>
          <Table.Th className="numbers">Event</Table.Th>
          <Table.Th>When</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {before > 0 && <Gap height={before} />}
        {rows.map((index) => {
          const checkpoint = checkpoints[index];
          return (
            checkpoint !== undefined && (
              <Table.Tr key={checkpoint.step_key} aria-rowindex={index + 2}>
                <Table.Td className="cut">
                  <Anchor component="button" size="sm" onClick={() => select(checkpoint.step_key)}>
                    <UserText>{checkpoint.step_key}</UserText>
                  </Anchor>
                </Table.Td>
                <Table.Td className="numbers">{checkpoint.event_id ?? 'Not recorded'}</Table.Td>
                <Table.Td>
                  <When at={checkpoint.at} />
                </Table.Td>
              </Table.Tr>
            )
          );
        })}
        {after > 0 && <Gap height={after} />}
      </Table.Tbody>
    </Table>
  );
}

const Gap = ({ height }: { height: number }) => (
  <tr className="left-out" aria-hidden>
    <td colSpan={3} style={{ height }} />
  </tr>
);
