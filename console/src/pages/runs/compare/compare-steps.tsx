import { Anchor, Box, SimpleGrid, Stack, Switch, Table, Text } from '@mantine/core';
import { getRouteApi } from '@tanstack/react-router';
import { type ReactNode, useEffect, useMemo, useRef, useState } from 'react';
import type { Run, Step } from '#client/index.ts';
import { words } from '#console/src/messages/en/words.ts';
import {
  compareResults as results,
  compareSteps as texts,
} from '#console/src/messages/en/runs/compare.ts';
import { ChangedPaths, changesOf } from '#console/src/parts/data/changed-paths.tsx';
import { useWindowed } from '#console/src/parts/data/windowed.ts';
import { Empty } from '#console/src/parts/empty.tsx';
import { ValueView } from '#console/src/parts/json/value-view.tsx';
import { Section } from '#console/src/parts/page.tsx';
import { StateBadge } from '#console/src/parts/state-badge.tsx';
import { Tag } from '#console/src/parts/tag.tsx';
import { durationText } from '#console/src/parts/text/duration.ts';
import { countText, dollarsText } from '#console/src/parts/text/numbers.ts';
import { UserText } from '#console/src/parts/text/user-text.tsx';
import { iterationMark } from '#console/src/pages/runs/node-states.ts';
import { listedName } from '#console/src/pages/runs/steps/agent-steps.ts';
import { shownState } from '#console/src/pages/runs/steps/step-state.ts';
import { type ComparedStep, comparedSteps, resultOf } from './compared.ts';
import { Delta } from './delta.tsx';
import { Row } from '#console/src/parts/data/row-table.tsx';
import { Dimmed } from '#console/src/parts/text/dimmed.tsx';

export interface TwoRuns {
  older: Run;
  newer: Run;
}

const route = getRouteApi('/inside/runs/$runId/compare/$otherId');
const ROW_HEIGHT = 38;
const MOST_DIFFERENCES = 50;

/** The steps of both runs, and below them the results of the selected step. */
export function CompareSteps({ older, newer }: TwoRuns) {
  const { step: key } = route.useSearch();
  const navigate = route.useNavigate();
  const [onlyDifferent, setOnlyDifferent] = useState(false);
  const all = useMemo(() => comparedSteps(older.steps, newer.steps), [older.steps, newer.steps]);
  const different = all.filter(({ differs }) => differs);
  const rows = onlyDifferent ? different : all;
  const chosen = all.find((each) => each.key === key);
  const select = (step: string): void =>
    void navigate({ search: { step }, replace: true, resetScroll: false });
  return (
    <>
      <Section
        title={words.steps}
        actions={
          <>
            <Text size="sm" c="dimmed" role="status">
              {texts.differ(countText(different.length), countText(all.length))}
            </Text>
            <Switch
              label={texts.onlyDifferences}
              checked={onlyDifferent}
              onChange={({ currentTarget }) => setOnlyDifferent(currentTarget.checked)}
            />
          </>
        }
      >
        {rows.length === 0 ? (
          <Empty title={all.length === 0 ? texts.empty : texts.noDifference} />
        ) : (
          <StepRows rows={rows} chosen={key} select={select} />
        )}
      </Section>
      {chosen !== undefined && <Results compared={chosen} />}
    </>
  );
}

function StepRows({
  rows,
  chosen,
  select,
}: {
  rows: readonly ComparedStep[];
  chosen: string | undefined;
  select: (key: string) => void;
}) {
  const windowed = useWindowed(rows.length, ROW_HEIGHT);
  return (
    <Box
      ref={windowed.frame}
      mah={480}
      style={{ overflow: 'auto' }}
      tabIndex={0}
      role="region"
      aria-label={texts.scrollable}
    >
      <Table
        className="steps-table"
        aria-label={texts.table}
        aria-rowcount={rows.length + 1}
        miw={{ sm: 720 }}
      >
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{words.step}</Table.Th>
            <Table.Th>{results.sides.older.name}</Table.Th>
            <Table.Th>{results.sides.newer.name}</Table.Th>
            <Table.Th>{words.result}</Table.Th>
            <Table.Th className="numbers" visibleFrom="sm">
              {words.duration}
            </Table.Th>
            <Table.Th className="numbers" visibleFrom="sm">
              {words.cost}
            </Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          <Gap height={windowed.before} />
          {windowed.rows.map((index) => {
            const row = rows[index];
            return (
              row !== undefined && (
                <StepRow
                  key={row.key}
                  row={row}
                  index={index}
                  chosen={row.key === chosen}
                  select={select}
                />
              )
            );
          })}
          <Gap height={windowed.after} />
        </Table.Tbody>
      </Table>
    </Box>
  );
}

const Gap = ({ height }: { height: number }) =>
  height > 0 && (
    <tr className="left-out" aria-hidden>
      <td colSpan={6} style={{ height }} />
    </tr>
  );

function StepRow({
  row: { key, older, newer, output },
  index,
  chosen,
  select,
}: {
  row: ComparedStep;
  index: number;
  chosen: boolean;
  select: (key: string) => void;
}) {
  const step = older ?? newer;
  return (
    <Row
      aria-rowindex={index + 2}
      data-chosen={chosen || undefined}
      onClick={() => select(key)}
      style={{ cursor: 'pointer' }}
    >
      <Table.Td className="cut">
        <Anchor
          component="button"
          size="sm"
          fw={600}
          aria-pressed={chosen}
          onClick={(event) => {
            event.stopPropagation();
            select(key);
          }}
        >
          <UserText>{step === undefined ? key : listedName(step)}</UserText>
        </Anchor>{' '}
        <Text span size="xs" c="dimmed">
          {step !== undefined && iterationMark(step)}
        </Text>
      </Table.Td>
      <State step={older} />
      <State step={newer} />
      {output === 'same' ? texts.outputs.same : <Tag color="warning">{texts.outputs[output]}</Tag>}
      <Table.Td className="numbers" visibleFrom="sm">
        <Figure older={older?.duration_ms} newer={newer?.duration_ms} text={durationText} />
      </Table.Td>
      <Table.Td className="numbers" visibleFrom="sm">
        <Figure older={older?.cost_usd} newer={newer?.cost_usd} text={dollarsText} />
      </Table.Td>
    </Row>
  );
}

const State = ({ step }: { step: Step | undefined }) =>
  step === undefined ? (
    <Text span size="sm" c="dimmed">
      {texts.notReached}
    </Text>
  ) : (
    <StateBadge state={shownState(step)} size="sm" />
  );

function Figure({
  older,
  newer,
  text,
}: {
  older: number | null | undefined;
  newer: number | null | undefined;
  text: (size: number) => string;
}): ReactNode {
  const shown = newer ?? older;
  return (
    <>
      {shown != null && text(shown)}{' '}
      <Text span size="xs">
        <Delta older={older} newer={newer} text={text} />
      </Text>
    </>
  );
}

function Results({ compared: { key, older, newer, output } }: { compared: ComparedStep }) {
  const step = older ?? newer;
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    place.current?.scrollIntoView({ block: 'start' });
  }, [key]);
  return (
    <Box ref={place} style={{ scrollMarginTop: 'var(--header-height)' }}>
      <Section title={results.title(step === undefined ? '' : listedName(step))}>
        {output === 'differs' && older !== undefined && newer !== undefined && (
          <Differences older={older} newer={newer} />
        )}
        <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="md">
          <Side side="older" step={older} />
          <Side side="newer" step={newer} />
        </SimpleGrid>
      </Section>
    </Box>
  );
}

function Differences({ older, newer }: { older: Step; newer: Step }) {
  const changes = useMemo(() => changesOf(resultOf(older), resultOf(newer)), [older, newer]);
  return (
    <Box role="group" aria-label={results.differences}>
      <ChangedPaths changes={changes} most={MOST_DIFFERENCES} />
    </Box>
  );
}

function Side({ side, step }: { side: keyof TwoRuns; step: Step | undefined }) {
  const { name, result } = results.sides[side];
  return (
    <Stack gap={4} miw={0} component="section" aria-label={name}>
      <Text size="sm" fw={600}>
        {name}
      </Text>
      {step === undefined ? (
        <Dimmed>{results.notReached}</Dimmed>
      ) : (
        <ValueView
          value={resultOf(step)}
          what={result}
          prose={step.kind === 'agent' && step.error === null}
        />
      )}
    </Stack>
  );
}
