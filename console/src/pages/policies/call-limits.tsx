import {
  Button,
  Card,
  Group,
  NumberInput,
  SegmentedControl,
  Stack,
  TagsInput,
  TextInput,
} from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { callLimits as text } from '#console/src/messages/en/governance/policies.ts';
import { words } from '#console/src/messages/en/words.ts';
import { Empty } from '#console/src/parts/empty.tsx';
import { toolsQuery } from '#console/src/queries/workspace.ts';
import { priceTable } from '#shared/money/prices.ts';
import { calledAs, builtinTools, isPureTool, isTimer } from '#shared/tools.ts';
import { type LimitDraft, newLimit, type PolicyDraft } from './policy-draft.ts';

const models = ['mock', ...Object.keys(priceTable.models)];
/** Others only compute or wait inside the run. */
const tools = [...builtinTools].filter((tool) => !isPureTool(tool) && !isTimer(tool));

/** How many calls of tools and models can be in flight, and begin per minute. */
export function CallLimits({
  draft,
  change,
}: {
  draft: PolicyDraft;
  change: (part: Partial<PolicyDraft>) => void;
}) {
  const { limits } = draft;
  return (
    <Stack gap="sm" align="stretch">
      {limits.length === 0 && <Empty {...text.empty} />}
      {limits.map((limit, at) => (
        <LimitCard
          key={limit.key}
          nth={at + 1}
          limit={limit}
          onChange={(part) =>
            change({
              limits: limits.map((each) => (each.key === limit.key ? { ...each, ...part } : each)),
            })
          }
          onRemove={() => change({ limits: limits.filter(({ key }) => key !== limit.key) })}
        />
      ))}
      <Group>
        <Button variant="default" onClick={() => change({ limits: [...limits, newLimit()] })}>
          {text.add}
        </Button>
      </Group>
    </Stack>
  );
}

function LimitCard({
  nth,
  limit,
  onChange,
  onRemove,
}: {
  nth: number;
  limit: LimitDraft;
  onChange: (part: Partial<LimitDraft>) => void;
  onRemove: () => void;
}) {
  const { data: custom = [] } = useQuery(toolsQuery);
  const known =
    limit.of === 'models' ? models : [...tools, ...custom.map(({ name }) => calledAs(name))];
  const unlimited = limit.concurrency === '' && limit.perMinute === '';
  return (
    <Card withBorder role="group" aria-label={text.limit(nth)}>
      <Stack gap="sm">
        <Group justify="space-between" gap="xs">
          <SegmentedControl
            aria-label={text.of}
            size="xs"
            value={limit.of}
            onChange={(of) => onChange({ of: of as LimitDraft['of'], names: [] })}
            data={[
              { value: 'tools', label: text.tools },
              { value: 'models', label: text.models },
            ]}
          />
          <Button variant="light" color="danger" onClick={onRemove} aria-label={text.remove(nth)}>
            {words.remove}
          </Button>
        </Group>
        <TagsInput
          label={limit.of === 'tools' ? text.limitedTools : text.limitedModels}
          description={limit.of === 'tools' ? text.toolsAbout : text.modelsAbout}
          value={limit.names}
          onChange={(names) => onChange({ names })}
          data={known}
          limit={20}
          acceptValueOnBlur
          error={limit.names.length === 0 ? text.none : undefined}
        />
        <Group gap="sm" align="flex-start" grow preventGrowOverflow={false}>
          <NumberInput
            label={text.concurrency}
            value={limit.concurrency}
            onChange={(value) => onChange({ concurrency: toNumber(value) })}
            min={1}
            max={1_000}
            allowDecimal={false}
            error={unlimited ? text.unlimited : undefined}
          />
          <NumberInput
            label={text.perMinute}
            value={limit.perMinute}
            onChange={(value) => onChange({ perMinute: toNumber(value) })}
            min={1}
            max={6_000}
            allowDecimal={false}
          />
        </Group>
        <TextInput
          label={text.key}
          description={text.keyAbout}
          value={limit.by}
          onChange={(event) => onChange({ by: event.currentTarget.value })}
          maxLength={200}
        />
      </Stack>
    </Card>
  );
}

const toNumber = (value: string | number): number | '' =>
  typeof value === 'number' ? value : value === '' ? '' : Number(value);
