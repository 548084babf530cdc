import '../runs.css';
import { Box, Group, Select, Table, Text, TextInput, UnstyledButton } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { IconArrowDown, IconArrowUp } from '@tabler/icons-react';
import { useEffect, useMemo, useState } from 'react';
import type { Step } from '../../../../../client/index.ts';
import { kindNames } from '../../../graph/kinds.ts';
import { UserText } from '../../../parts/text/user-text.tsx';
import { countText, dollarsText } from '../../../parts/text/numbers.ts';
import { StateBadge } from '../../../parts/state-badge.tsx';
import { durationText } from '../../../parts/text/duration.ts';
import { useWindowed } from '../../../parts/data/windowed.ts';
import { iterationText } from '../node-states.ts';
import { depthOf, listedName } from './agent-steps.ts';
import { shownState } from './step-state.ts';
import { chosenSteps, type StepChoice, type StepOrder } from './step-rows.ts';
import type { Selection } from '../use-selection.ts';

const ROW_HEIGHT = 38;
const states: readonly Step['status'][] = [
  'running',
  'success',
  'failed',
  'paused',
  'skipped',
  'cancelled',
];
const columns: readonly { order: StepOrder | undefined; name: string; numbers?: boolean }[] = [
  { order: 'name', name: 'Step' },
  // Next to the name, where it is visible on a phone.
  { order: 'state', name: 'Status' },
  { order: undefined, name: 'Kind' },
  { order: 'duration', name: 'Duration', numbers: true },
  { order: undefined, name: 'Model' },
  { order: undefined, name: 'Tokens', numbers: true },
  { order: 'cost', name: 'Cost', numbers: true },
];

/** All steps of a run, with filters, sorting and selection. */
export function StepTable({
  steps,
  chosen,
  select,
}: {
  steps: readonly Step[];
  /** The key of the selected step. */
  chosen: string | undefined;
  select: Selection['select'];
}) {
  const [choice, setChoice] = useState<StepChoice>({
    text: '',
    state: undefined,
    order: 'run',
    descending: false,
  });
  const [text] = useDebouncedValue(choice.text, 120);
  const rows = useMemo(
    () => chosenSteps(steps, { ...choice, text }, chosen),
    [steps, choice, text, chosen],
  );
  const turns = useMemo(() => turnsOf(steps), [steps]);
  const windowed = useWindowed(rows.length, ROW_HEIGHT);
  useEffect(() => {
    const row = rows.findIndex((step) => step.step_key === chosen);
    if (row !== -1) windowed.scrollTo(row);
    // Only when the selection changes: new rows do not scroll the list.
    // oxlint-disable-next-line react/exhaustive-deps
  }, [chosen]);
  return (
    <>
      <StepFilters choice={choice} setChoice={setChoice} rows={rows} steps={steps} />
      <Box
        ref={windowed.frame}
        mah={480}
        style={{ overflow: 'auto' }}
        tabIndex={0}
        role="region"
        aria-label="Steps, scrollable"
      >
        <Table className="steps-table" aria-label="Steps" aria-rowcount={rows.length + 1} miw={680}>
          <Table.Thead>
            <Table.Tr>
              {columns.map((column) => (
                <HeaderCell key={column.name} {...column} choice={choice} setChoice={setChoice} />
              ))}
            </Table.Tr>
          </Table.Thead>
          <StepRows windowed={windowed} rows={rows} turns={turns} chosen={chosen} select={select} />
        </Table>
      </Box>
    </>
  );
}

function StepFilters({
  choice,
  setChoice,
  rows,
  steps,
}: {
  choice: StepChoice;
  setChoice: (choice: StepChoice) => void;
  rows: readonly Step[];
  steps: readonly Step[];
}) {
  return (
    <Group gap="sm" align="flex-end">
      <TextInput
        label="Search"
        placeholder="Name, model or error"
        value={choice.text}
        onChange={({ currentTarget }) => setChoice({ ...choice, text: currentTarget.value })}
      />
      <Select
        label="Status"
        placeholder="Any"
        clearable
        data={[...states]}
        value={choice.state ?? null}
        onChange={(value) => setChoice({ ...choice, state: states.find((each) => each === value) })}
      />
      <Text size="sm" c="dimmed" pb={8} role="status">
        {countText(rows.length)} of {countText(steps.length)} steps
      </Text>
    </Group>
  );
}

/** The number of turns of each agent, by the key of its step. */
function turnsOf(steps: readonly Step[]): ReadonlyMap<string, number> {
  const turns = new Map<string, number>();
  for (const { parent_step_key: agent, turn = 0 } of steps) {
    if (agent !== undefined) turns.set(agent, Math.max(turns.get(agent) ?? 0, turn));
  }
  return turns;
}

function StepRows({
  windowed,
  rows,
  turns,
  chosen,
  select,
}: {
  windowed: ReturnType<typeof useWindowed>;
  rows: readonly Step[];
  turns: ReadonlyMap<string, number>;
  chosen: string | undefined;
  select: Selection['select'];
}) {
  return (
    <Table.Tbody>
      <LeftOut height={windowed.before} />
      {windowed.rows.map((index) => {
        const step = rows[index];
        return (
          step !== undefined && (
            <StepRow
              key={step.step_key}
              step={step}
              index={index}
              turns={turns.get(step.step_key)}
              chosen={step.step_key === chosen}
              select={select}
            />
          )
        );
      })}
      <LeftOut height={windowed.after} />
    </Table.Tbody>
  );
}

function StepRow({
  step,
  index,
  turns,
  chosen,
  select,
}: {
  step: Step;
  index: number;
  /** Of an agent with tools. */
  turns: number | undefined;
  chosen: boolean;
  select: Selection['select'];
}) {
  const note = [iterationText(step), turns && turnsText(turns)].filter(Boolean).join(', ');
  return (
    <Table.Tr
      aria-rowindex={index + 2}
      data-chosen={chosen || undefined}
      onClick={() => select(step.step_key)}
      style={{ cursor: 'pointer' }}
    >
      <Table.Td className="cut" style={{ paddingInlineStart: `${0.6 + depthOf(step)}rem` }}>
        <UnstyledButton
          fz="sm"
          fw={600}
          aria-pressed={chosen}
          onClick={(event) => {
            event.stopPropagation();
            select(chosen ? undefined : step.step_key);
          }}
        >
          <UserText>{listedName(step)}</UserText>
        </UnstyledButton>
        {note !== '' && (
          <Text span size="xs" c="dimmed">
            {' '}
            {note}
          </Text>
        )}
      </Table.Td>
      <Table.Td>
        <StateBadge state={shownState(step)} size="sm" />
      </Table.Td>
      <Table.Td>{kindNames[step.kind]}</Table.Td>
      <Table.Td className="numbers">
        {step.duration_ms === null ? '' : durationText(step.duration_ms)}
      </Table.Td>
      <Table.Td className="cut">
        {step.model !== undefined && <UserText>{step.model}</UserText>}
      </Table.Td>
      <Table.Td className="numbers">
        {step.usage !== undefined && countText(step.usage.input_tokens + step.usage.output_tokens)}
      </Table.Td>
      <Table.Td className="numbers">
        {step.unpriced === true ? 'Unknown' : dollarsText(step.cost_usd)}
      </Table.Td>
    </Table.Tr>
  );
}

const turnsText = (turns: number): string => (turns === 1 ? '1 turn' : `${turns} turns`);

function HeaderCell({
  order,
  name,
  numbers = false,
  choice,
  setChoice,
}: (typeof columns)[number] & {
  choice: StepChoice;
  setChoice: (choice: StepChoice) => void;
}) {
  const props = numbers ? { className: 'numbers' } : {};
  if (order === undefined) return <Table.Th {...props}>{name}</Table.Th>;
  const sorted = choice.order === order;
  const { descending } = choice;
  // Ascending, descending, then in the order of the run.
  const next = (): Pick<StepChoice, 'order' | 'descending'> => {
    if (!sorted) return { order, descending: false };
    return descending ? { order: 'run', descending: false } : { order, descending: true };
  };
  const Arrow = descending ? IconArrowDown : IconArrowUp;
  return (
    <Table.Th
      {...props}
      {...(sorted && {
        'aria-sort': descending ? ('descending' as const) : ('ascending' as const),
      })}
    >
      <UnstyledButton fz="sm" fw={700} onClick={() => setChoice({ ...choice, ...next() })}>
        {name}
        {sorted && <Arrow size={12} aria-hidden />}
      </UnstyledButton>
    </Table.Th>
  );
}

/** Reserves the height of rows that are not rendered. */
function LeftOut({ height }: { height: number }) {
  if (height === 0) return null;
  return (
    <tr className="left-out" aria-hidden>
      <td colSpan={columns.length} style={{ height }} />
    </tr>
  );
}
