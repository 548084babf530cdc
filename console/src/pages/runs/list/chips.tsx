import { Button, Group, Pill } from '@mantine/core';
import { chips as texts } from '#console/src/messages/en/runs/list.ts';
import {
  failureKinds,
  statuses as statusNames,
  triggers,
} from '#console/src/messages/en/parts/values.ts';
import { UserText } from '#console/src/parts/text/user-text.tsx';
import { durationText } from '#console/src/parts/text/duration.ts';
import { dollarsText } from '#console/src/parts/text/numbers.ts';
import { sentenceCase } from '#console/src/parts/text/sentence-case.ts';
import type { RunFilter } from '#console/src/queries/runs.ts';
import type { FilterName } from './filter.ts';

/** The filters that apply, each with a button that removes it. */
export function FilterChips({
  filter,
  allModes,
  workflowName,
  onRemove,
  onClear,
}: {
  filter: RunFilter;
  /** Whether the list contains rehearsals, too. */
  allModes: boolean;
  workflowName: (id: string) => string;
  onRemove: (name: FilterName) => void;
  onClear: () => void;
}) {
  const chips = chipsOf(filter, workflowName);
  if (allModes) chips.push({ name: 'mode', text: texts.withRehearsals });
  if (chips.length === 0) return null;
  return (
    <Group gap={6} role="group" aria-label={texts.label}>
      {chips.map(({ name, text }) => (
        <Pill
          key={name}
          size="md"
          withRemoveButton
          onRemove={() => onRemove(name)}
          removeButtonProps={{
            'aria-label': texts.remove(text),
            'aria-hidden': false,
            tabIndex: 0,
          }}
          maw="100%"
        >
          <UserText>{text}</UserText>
        </Pill>
      ))}
      <Button size="compact-xs" variant="subtle" onClick={onClear}>
        {texts.clear}
      </Button>
    </Group>
  );
}

function chipsOf(
  filter: RunFilter,
  workflowName: (id: string) => string,
): { name: FilterName; text: string }[] {
  const day = (time: string) => time.slice(0, 10);
  const statuses = [filter.status ?? []].flat().map((status) => sentenceCase(statusNames[status]));
  const values: [FilterName, string | number | undefined, (value: never) => string][] = [
    ['q', filter.q, texts.search],
    ['status', texts.anyOf(statuses) || undefined, (text: string) => text],
    [
      'failure_kind',
      filter.failure_kind,
      (kind: keyof typeof failureKinds) => texts.failure(failureKinds[kind]),
    ],
    [
      'trigger',
      filter.trigger,
      (trigger: keyof typeof triggers) => texts.startedBy(triggers[trigger]),
    ],
    ['workflow_id', filter.workflow_id, workflowName],
    ['version', filter.version, texts.version],
    ['since', filter.since, (time: string) => texts.since(day(time))],
    ['until', filter.until, (time: string) => texts.until(day(time))],
    ['min_cost_usd', filter.min_cost_usd, (cost: number) => texts.minCost(dollarsText(cost))],
    ['max_cost_usd', filter.max_cost_usd, (cost: number) => texts.maxCost(dollarsText(cost))],
    [
      'min_duration_ms',
      filter.min_duration_ms,
      (ms: number) => texts.minDuration(durationText(ms)),
    ],
    [
      'max_duration_ms',
      filter.max_duration_ms,
      (ms: number) => texts.maxDuration(durationText(ms)),
    ],
    [
      'mode',
      filter.mode,
      (mode: string) => (mode === 'recorded' ? texts.rehearsals : texts.noRehearsals),
    ],
  ];
  return values.flatMap(([name, value, textOf]) =>
    value === undefined ? [] : [{ name, text: textOf(value as never) }],
  );
}
