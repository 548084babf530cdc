import { Autocomplete, Button, Card, Group, MultiSelect, Stack, Switch, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Empty } from '../../../parts/empty.tsx';
import { toolsQuery } from '../../../queries/tools.ts';
import { workflowsQuery } from '../../../queries/workflows.ts';
import { builtinTools } from '../../../../../shared/tools.ts';
import { ArgumentRule } from './argument-rule.tsx';
import {
  newRule,
  newTool,
  type PolicyDraft,
  type RuleDraft,
  type ToolDraft,
} from './policy-draft.ts';

/** A tool that only waits inside the run; the service rejects rules for it. */
const UNJUDGED = 'delay';

/** Which workflows can use a tool, and which argument values are blocked. */
export function ToolRules({
  draft,
  change,
}: {
  draft: PolicyDraft;
  change: (part: Partial<PolicyDraft>) => void;
}) {
  const { data: custom = [] } = useQuery(toolsQuery);
  const known = [
    ...[...builtinTools].filter((tool) => tool !== UNJUDGED),
    ...custom.map(({ name }) => `custom:${name}`),
  ];
  const replace = (key: number, part: Partial<ToolDraft>): void =>
    change({
      tools: draft.tools.map((tool) => (tool.key === key ? { ...tool, ...part } : tool)),
    });
  return (
    <Stack gap="sm" align="stretch">
      {draft.tools.length === 0 && (
        <Empty title="No tool rules yet">
          <Text size="sm" c="dimmed">
            Every workflow can use every tool. Add a tool to limit the workflows that can use it or
            the arguments it accepts.
          </Text>
        </Empty>
      )}
      {draft.tools.map((tool) => (
        <ToolCard
          key={tool.key}
          tool={tool}
          known={known}
          taken={draft.tools.some(
            (other) => other.key !== tool.key && other.tool.trim() === tool.tool.trim(),
          )}
          onChange={(part) => replace(tool.key, part)}
          onRemove={() => change({ tools: draft.tools.filter(({ key }) => key !== tool.key) })}
        />
      ))}
      <Group>
        <Button variant="default" onClick={() => change({ tools: [...draft.tools, newTool()] })}>
          Add tool
        </Button>
      </Group>
    </Stack>
  );
}

function ToolCard({
  tool,
  known,
  taken,
  onChange,
  onRemove,
}: {
  tool: ToolDraft;
  known: string[];
  taken: boolean;
  onChange: (part: Partial<ToolDraft>) => void;
  onRemove: () => void;
}) {
  const name = tool.tool.trim() === '' ? 'this tool' : tool.tool;
  const replace = (key: number, part: Partial<RuleDraft>): void =>
    onChange({ rules: tool.rules.map((rule) => (rule.key === key ? { ...rule, ...part } : rule)) });
  return (
    <Card withBorder role="group" aria-label={`Rules for ${name}`}>
      <Stack gap="sm">
        <ToolName
          tool={tool}
          onChange={onChange}
          known={known}
          taken={taken}
          onRemove={onRemove}
          name={name}
        />
        <AllowedWorkflows
          workflowIds={tool.workflowIds}
          onChange={(workflowIds) => onChange({ workflowIds })}
        />
        {tool.rules.map((rule) => (
          <ArgumentRule
            key={rule.key}
            rule={rule}
            onChange={(part) => replace(rule.key, part)}
            onRemove={() => onChange({ rules: tool.rules.filter(({ key }) => key !== rule.key) })}
          />
        ))}
        <Group>
          <Button
            size="compact-sm"
            variant="subtle"
            onClick={() => onChange({ rules: [...tool.rules, newRule()] })}
          >
            Block argument
          </Button>
        </Group>
      </Stack>
    </Card>
  );
}

function ToolName({
  tool,
  onChange,
  known,
  taken,
  onRemove,
  name,
}: {
  tool: ToolDraft;
  onChange: (part: Partial<ToolDraft>) => void;
  known: string[];
  taken: boolean;
  onRemove: () => void;
  name: string;
}) {
  return (
    <Group align="flex-end" gap="xs">
      <Autocomplete
        label="Tool"
        value={tool.tool}
        onChange={(value) => onChange({ tool: value })}
        data={known}
        error={taken ? 'This tool already has rules' : undefined}
        flex={1}
        miw={200}
        maxLength={200}
        required
      />
      <Button
        variant="light"
        color="red"
        onClick={onRemove}
        aria-label={`Remove rules for ${name}`}
      >
        Remove
      </Button>
    </Group>
  );
}

function AllowedWorkflows({
  workflowIds,
  onChange,
}: {
  workflowIds: string[] | undefined;
  onChange: (workflowIds: string[] | undefined) => void;
}) {
  const { data: workflows = [] } = useQuery(workflowsQuery);
  // Deleted workflows stay in the list by their ID, so that saving does not silently change the rule.
  const gone = (workflowIds ?? []).filter((id) => !workflows.some((each) => each.id === id));
  return (
    <>
      <Switch
        label="Limit to selected workflows"
        checked={workflowIds !== undefined}
        onChange={(event) => onChange(event.currentTarget.checked ? [] : undefined)}
      />
      {workflowIds !== undefined && (
        <MultiSelect
          label="Allowed workflows"
          value={workflowIds}
          onChange={onChange}
          searchable
          data={[
            ...workflows.map(({ id, name }) => ({ value: id, label: name })),
            ...gone.map((id) => ({ value: id, label: id })),
          ]}
          {...(workflowIds.length === 0 && {
            description: 'With no workflow selected, no workflow can use it.',
          })}
        />
      )}
    </>
  );
}
