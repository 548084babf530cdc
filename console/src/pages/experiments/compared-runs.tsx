import { Badge, Box, Button, Collapse, Group, Paper, SimpleGrid, Stack, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import type { ComparedRun, Experiment } from '#client/index.ts';
import { comparedRuns as text } from '#console/src/messages/en/workflows/experiments.ts';
import { Message } from '#console/src/messages/message.tsx';
import { JsonView } from '#console/src/parts/code/json-view.tsx';
import { ChangedValue } from '#console/src/parts/data/changed-value.tsx';
import { Empty } from '#console/src/parts/empty.tsx';
import { RunLink } from '#console/src/parts/links.tsx';
import { dollarsText } from '#console/src/parts/text/numbers.ts';
import { UserText } from '#console/src/parts/text/user-text.tsx';
import { Dimmed } from '#console/src/parts/text/dimmed.tsx';
import { OutcomeBadge } from './outcome.tsx';

/** The runs of an experiment that are done, each with its changes. */
export function ComparedRuns({
  runs,
  status,
}: {
  runs: readonly ComparedRun[];
  status: Experiment['status'];
}) {
  if (runs.length === 0) {
    return <Empty title={status === 'running' ? text.noneYet : text.none} />;
  }
  return (
    <Stack gap="sm" component="ul" p={0} m={0} style={{ listStyle: 'none' }}>
      {runs.map((run) => (
        <Box component="li" key={run.run_id}>
          <OneRun run={run} />
        </Box>
      ))}
    </Stack>
  );
}

function OneRun({ run }: { run: ComparedRun }) {
  const { outcome, reason, diff, checks } = run;
  const [opened, { toggle }] = useDisclosure(false);
  const differences = diff?.differences ?? [];
  return (
    <Paper withBorder p="sm">
      <Group gap="sm" justify="space-between">
        <Group gap="sm">
          <OutcomeBadge outcome={outcome} />
          <RunLinks run={run} />
        </Group>
        <Group gap="xs">
          {checks.lost.map((name) => (
            <CheckMark key={`lost ${name}`} name={name} word="lost" />
          ))}
          {checks.won.map((name) => (
            <CheckMark key={`won ${name}`} name={name} word="won" />
          ))}
          {differences.length > 0 && (
            <Button size="compact-sm" variant="default" aria-expanded={opened} onClick={toggle}>
              {changesText(differences.length, { opened, more: diff?.more === true })}
            </Button>
          )}
        </Group>
      </Group>
      {reason !== null && (
        <Text size="sm" mt={4}>
          <UserText>{reason}</UserText>
        </Text>
      )}
      <Collapse expanded={opened}>
        {opened && <Differences differences={differences} more={diff?.more === true} />}
      </Collapse>
    </Paper>
  );
}

function changesText(count: number, { opened, more }: { opened: boolean; more: boolean }): string {
  if (more) return opened ? text.hideOfMore(count) : text.showOfMore(count);
  return opened ? text.hide(count) : text.show(count);
}

function RunLinks({ run }: { run: ComparedRun }) {
  const { run_id: runId, rehearsal_run_id: rehearsalId, cost_usd: cost } = run;
  return (
    <Text size="sm" component="div">
      <RunLink run={runId} ff="monospace">
        {runId}
      </RunLink>
      {rehearsalId !== null && (
        <>
          {' · '}
          <RunLink run={rehearsalId}>{text.rehearsal}</RunLink>
        </>
      )}
      {cost !== null && cost.base !== cost.candidate && (
        <>
          {' · '}
          <ChangedValue before={dollarsText(cost.base)} after={dollarsText(cost.candidate)} />
        </>
      )}
    </Text>
  );
}

const CheckMark = ({ name, word }: { name: string; word: 'won' | 'lost' }) => (
  <Badge variant="light" color={word === 'lost' ? 'danger' : 'success'} c="bright" tt="none">
    <Message text={text.checks[word]} values={{ name }} />
  </Badge>
);

type Difference = NonNullable<ComparedRun['diff']>['differences'][number];

function Differences({ differences, more }: { differences: readonly Difference[]; more: boolean }) {
  return (
    <Stack gap="sm" mt="sm">
      {differences.map(({ path, change, from, to }) => (
        <Box key={path}>
          <Text size="sm" fw={600}>
            <Message
              text={text.changes[change]}
              values={{ path: path === '' ? text.theOutput : path }}
            />
          </Text>
          <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="xs">
            {change === 'added' ? (
              <Dimmed>{text.notThereBefore}</Dimmed>
            ) : (
              <JsonView value={from} what={text.before(path)} />
            )}
            {change === 'removed' ? (
              <Dimmed>{text.notThereAnyMore}</Dimmed>
            ) : (
              <JsonView value={to} what={text.withCandidate(path)} />
            )}
          </SimpleGrid>
        </Box>
      ))}
      {more && <Dimmed>{text.more}</Dimmed>}
    </Stack>
  );
}
