import {
  Button,
  Group,
  MultiSelect,
  Popover,
  Select,
  SimpleGrid,
  Stack,
  TextInput,
} from '@mantine/core';
import { IconFilter, IconSearch } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useMemo } from 'react';
import { failureKinds, runStatuses, triggers } from '#shared/contract/runs/run-kinds.ts';
import { wordsIn } from '#shared/values/words.ts';
import { words } from '#console/src/messages/en/words.ts';
import { filters as texts } from '#console/src/messages/en/runs/list.ts';
import {
  failureKinds as failureNames,
  statuses as statusNames,
  triggers as triggerNames,
} from '#console/src/messages/en/parts/values.ts';
import { FilterText } from '#console/src/parts/forms/filter-text.tsx';
import { NumberField } from '#console/src/parts/forms/number-field.tsx';
import { sentenceCase } from '#console/src/parts/text/sentence-case.ts';
import { workflowsQuery } from '#console/src/queries/workflows.ts';
import { FilterChips } from './chips.tsx';
import { ExportMenu } from './export-menu.tsx';
import { ViewsMenu } from './views-menu.tsx';
import {
  ALL_MODES,
  type FilterName,
  listedRuns,
  runFilterOf,
  type RunSearch,
  statusesIn,
} from './filter.ts';

const route = getRouteApi('/inside/runs');
const MS = 1_000;

type SetFilter = (name: FilterName, value: string | number | null | undefined) => void;

/** The search, a button for the other filters, and the filters that apply. */
export function RunFilters() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const { data: workflows } = useQuery(workflowsQuery);
  const options = useMemo(
    () => (workflows ?? []).map(({ id, name }) => ({ value: id, label: name })),
    [workflows],
  );
  const set: SetFilter = (name, value) => {
    const text = value === null || value === undefined ? undefined : String(value);
    void navigate({
      search: (before) => ({
        ...before,
        [name]: text === '' ? undefined : text,
        // A version only has a meaning with its workflow.
        ...(name === 'workflow_id' ? { version: undefined } : {}),
      }),
      replace: true,
    });
  };
  const unreadable = search.q !== undefined && wordsIn(search.q).length === 0;
  return (
    <Stack gap="xs" component="search">
      {/* On a phone, the buttons are below the search. */}
      <Group gap="sm" align="flex-start">
        <FilterText
          aria-label={texts.search}
          placeholder={texts.searchFor}
          leftSection={<IconSearch size={16} aria-hidden />}
          value={search.q}
          onChange={(value) => set('q', value)}
          error={unreadable ? texts.unreadable : undefined}
          maxLength={200}
          flex="1 1 220px"
          maw={420}
        />
        <MoreFilters search={search} workflows={options} set={set} />
        <ViewsMenu filter={runFilterOf(search)} />
        <ExportMenu filter={listedRuns(search)} />
      </Group>
      <FilterChips
        filter={runFilterOf(search)}
        allModes={search.mode === ALL_MODES}
        workflowName={(id) => options.find(({ value }) => value === id)?.label ?? id}
        onRemove={(name) => set(name, undefined)}
        onClear={() => void navigate({ search: {} })}
      />
    </Stack>
  );
}

interface FieldsProps {
  search: RunSearch;
  workflows: { value: string; label: string }[];
  set: SetFilter;
}

function MoreFilters(props: FieldsProps) {
  return (
    <Popover position="bottom-start" width="min(440px, calc(100vw - 24px))" trapFocus shadow="md">
      <Popover.Target>
        <Button variant="default" leftSection={<IconFilter size={16} aria-hidden />}>
          {texts.more}
        </Button>
      </Popover.Target>
      <Popover.Dropdown aria-label={texts.more}>
        <Stack gap="sm">
          <KindFields {...props} />
          <RangeFields {...props} />
        </Stack>
      </Popover.Dropdown>
    </Popover>
  );
}

/** The lists are inside the popover, so that a choice does not close it. */
const inside = { comboboxProps: { withinPortal: false } } as const;
const statusOptions = runStatuses.map((value) => ({
  value,
  label: sentenceCase(statusNames[value]),
}));
const triggerOptions = triggers.map((value) => ({ value, label: triggerNames[value] }));
const failureOptions = failureKinds.map((value) => ({ value, label: failureNames[value] }));

const rehearsalOptions = [
  { value: 'live', label: texts.hidden },
  { value: ALL_MODES, label: texts.shown },
  { value: 'recorded', label: texts.only },
] as const;

function KindFields({ search, workflows, set }: FieldsProps) {
  const { workflow_id: workflowId } = search;
  return (
    <>
      <MultiSelect
        {...inside}
        label={words.status}
        placeholder={search.status === undefined ? texts.any : undefined}
        clearable
        data={statusOptions}
        value={statusesIn(search.status)}
        onChange={(values) => set('status', values.join(','))}
      />
      <SimpleGrid cols={2} spacing="sm">
        <Select
          {...inside}
          label={texts.startedBy}
          placeholder={texts.any}
          clearable
          data={triggerOptions}
          value={search.trigger ?? null}
          onChange={(value) => set('trigger', value)}
        />
        <Select
          {...inside}
          label={texts.failure}
          placeholder={texts.any}
          clearable
          data={failureOptions}
          value={search.failure_kind ?? null}
          onChange={(value) => set('failure_kind', value)}
        />
        <Select
          {...inside}
          label={words.workflow}
          placeholder={texts.any}
          clearable
          searchable
          data={workflows}
          value={workflowId ?? null}
          onChange={(value) => set('workflow_id', value)}
        />
        <NumberField
          label={words.version}
          placeholder={workflowId === undefined ? texts.chooseWorkflow : texts.any}
          disabled={workflowId === undefined}
          min={1}
          allowDecimal={false}
          value={runFilterOf(search).version}
          onChange={(value) => set('version', value)}
        />
        <Select
          {...inside}
          label={texts.rehearsals}
          allowDeselect={false}
          data={[...rehearsalOptions]}
          value={rehearsalOptions.find(({ value }) => value === search.mode)?.value ?? 'live'}
          onChange={(value) => set('mode', value === 'live' ? undefined : value)}
        />
      </SimpleGrid>
    </>
  );
}

function RangeFields({ search, set }: FieldsProps) {
  const filter = runFilterOf(search);
  const seconds = (ms: number | undefined) => (ms === undefined ? undefined : ms / MS);
  const toMs = (value: number | undefined) =>
    value === undefined ? undefined : Math.round(value * MS);
  const amount = { min: 0, decimalScale: 6, placeholder: texts.any };
  return (
    <SimpleGrid cols={2} spacing="sm">
      <DateField label={texts.createdFrom} name="since" search={search} set={set} />
      <DateField label={texts.createdBefore} name="until" search={search} set={set} />
      <NumberField
        {...amount}
        label={texts.minCost}
        value={filter.min_cost_usd}
        onChange={(value) => set('min_cost_usd', value)}
      />
      <NumberField
        {...amount}
        label={texts.maxCost}
        value={filter.max_cost_usd}
        onChange={(value) => set('max_cost_usd', value)}
      />
      <NumberField
        {...amount}
        label={texts.minDuration}
        value={seconds(filter.min_duration_ms)}
        onChange={(value) => set('min_duration_ms', toMs(value))}
      />
      <NumberField
        {...amount}
        label={texts.maxDuration}
        value={seconds(filter.max_duration_ms)}
        onChange={(value) => set('max_duration_ms', toMs(value))}
      />
    </SimpleGrid>
  );
}

function DateField({
  label,
  name,
  search,
  set,
}: {
  label: string;
  name: 'since' | 'until';
  search: RunSearch;
  set: SetFilter;
}) {
  return (
    <TextInput
      type="date"
      label={label}
      value={search[name]?.slice(0, 10) ?? ''}
      onChange={({ currentTarget }) => set(name, currentTarget.value)}
    />
  );
}
