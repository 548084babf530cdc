import { Anchor, Badge, Box, Stack, Table, Text } from '@mantine/core';
import { IconCheck, IconX } from '@tabler/icons-react';
import type { Run } from '#client/index.ts';
import { words } from '#console/src/messages/en/words.ts';
import { runCheckpoints, runChecks, runData } from '#console/src/messages/en/runs/run.ts';
import { Message } from '#console/src/messages/message.tsx';
import { Empty } from '#console/src/parts/empty.tsx';
import { UserText } from '#console/src/parts/text/user-text.tsx';
import { JsonView } from '#console/src/parts/code/json-view.tsx';
import { ValueView } from '#console/src/parts/json/value-view.tsx';
import { When } from '#console/src/parts/text/time.tsx';
import { useWindowed } from '#console/src/parts/data/windowed.ts';
import { Part } from './part.tsx';
import { hasEnded, webAddress } from './run-facts.ts';
import type { Selection } from './use-selection.ts';
import { Row, RowTable } from '#console/src/parts/data/row-table.tsx';
import { Dimmed } from '#console/src/parts/text/dimmed.tsx';

/** The output, input and state of the run. Until it has an output, that is last. */
export function RunData({ run }: { run: Run }) {
  const output = (
    <Part title={words.output}>
      {run.output === null ? (
        <Dimmed>{runData.noOutput}</Dimmed>
      ) : (
        <ValueView value={run.output} what={runData.theOutput} />
      )}
    </Part>
  );
  return (
    <Stack gap="md">
      {run.output !== null && output}
      <Part title={words.input}>
        <ValueView value={run.input} what={runData.theInput} />
      </Part>
      <Part title={hasEnded(run) ? runData.state : runData.stateSoFar}>
        <ValueView value={run.state} what={runData.theState} />
      </Part>
      {run.output === null && output}
    </Stack>
  );
}

/** The results of the workflow's checks for the run. */
export function RunChecks({ run: { evals, status } }: { run: Run }) {
  if (evals === null) {
    return (
      <Empty title={runChecks.empty}>
        <Text c="dimmed">{status === 'success' ? runChecks.hadNone : runChecks.later}</Text>
      </Empty>
    );
  }
  return (
    <RowTable
      label={words.checks}
      minWidth={640}
      columns={[runChecks.check, words.result, words.type, runChecks.expected, runChecks.actual]}
    >
      {evals.results.map(({ name, type, passed, expected, actual, message }, index) => (
        <Row key={index}>
          <Table.Td>
            <UserText>{name}</UserText>
            {message !== undefined && (
              <Dimmed size="xs">
                <UserText>{message}</UserText>
              </Dimmed>
            )}
          </Table.Td>
          <Badge
            tt="none"
            variant="light"
            color={passed ? 'success' : 'danger'}
            leftSection={passed ? <IconCheck size={12} /> : <IconX size={12} />}
          >
            {passed ? runChecks.passed : runChecks.failed}
          </Badge>
          <Table.Td>{type}</Table.Td>
          <JsonView value={expected} what={runChecks.theExpected} />
          <JsonView value={actual} what={runChecks.theActual} />
        </Row>
      ))}
    </RowTable>
  );
}

const CHECKPOINT_ROW_HEIGHT = 38;

/** The checkpoints of the run, from which it can be resumed. */
export function RunCheckpoints({ run, select }: { run: Run; select: Selection['select'] }) {
  const { checkpoints, temporal } = run;
  const { frame, rows, before, after } = useWindowed(checkpoints.length, CHECKPOINT_ROW_HEIGHT);
  const history = webAddress(temporal.url);
  if (checkpoints.length === 0) {
    return <Empty {...runCheckpoints.empty} />;
  }
  return (
    <Stack gap="xs">
      {history !== undefined && (
        <Text size="sm">
          <Message
            text={runCheckpoints.eventNumbers}
            values={{
              history: (
                <Anchor href={history} target="_blank" rel="noreferrer">
                  {runCheckpoints.history}
                </Anchor>
              ),
            }}
          />
        </Text>
      )}
      <Box
        ref={frame}
        mah={480}
        style={{ overflow: 'auto' }}
        tabIndex={0}
        role="region"
        aria-label={runCheckpoints.scrollable}
      >
        <Table
          className="steps-table"
          aria-label={runCheckpoints.table}
          aria-rowcount={checkpoints.length + 1}
        >
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{words.step}</Table.Th>
              <Table.Th className="numbers">{words.event}</Table.Th>
              <Table.Th>{runCheckpoints.when}</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {before > 0 && <Gap height={before} />}
            {rows.map((index) => {
              const checkpoint = checkpoints[index];
              return (
                checkpoint !== undefined && (
                  <Row key={checkpoint.step_key} aria-rowindex={index + 2}>
                    <Table.Td className="cut">
                      <Anchor
                        component="button"
                        size="sm"
                        onClick={() => select(checkpoint.step_key)}
                      >
                        <UserText>{checkpoint.step_key}</UserText>
                      </Anchor>
                    </Table.Td>
                    <Table.Td className="numbers">
                      {checkpoint.event_id ?? runCheckpoints.notRecorded}
                    </Table.Td>
                    <When at={checkpoint.at} />
                  </Row>
                )
              );
            })}
            {after > 0 && <Gap height={after} />}
          </Table.Tbody>
        </Table>
      </Box>
    </Stack>
  );
}

const Gap = ({ height }: { height: number }) => (
  <tr className="left-out" aria-hidden>
    <td colSpan={3} style={{ height }} />
  </tr>
);
