import { Autocomplete, Button, Card, Group, MultiSelect, Stack, Switch } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { words } from '#console/src/messages/en/words.ts';
import { toolRules as text } from '#console/src/messages/en/governance/policies.ts';
import { Empty } from '#console/src/parts/empty.tsx';
import { toolsQuery } from '#console/src/queries/workspace.ts';
import { workflowsQuery } from '#console/src/queries/workflows.ts';
import { asTool, builtinTools, CODE, isTimer } from '#shared/tools.ts';
import { ArgumentRule } from './argument-rule.tsx';
import {
  newRule,
  newTool,
  type PolicyDraft,
  type RuleDraft,
  type ToolDraft,
} from './policy-draft.ts';

/** Which workflows can use a tool, and which argument values are blocked. */
export function ToolRules({
  draft,
  change,
}: {
  draft: PolicyDraft;
  change: (part: Partial<PolicyDraft>) => void;
}) {
  const { data: custom = [] } = useQuery(toolsQuery);
  const { data: workflows = [] } = useQuery(workflowsQuery);
  const known = [
    // The service rejects rules for a tool that only waits.
    ...[...builtinTools].filter((tool) => !isTimer(tool)),
    CODE,
    ...custom.map(({ name }) => `custom:${name}`),
    ...new Set(workflows.map(({ name }) => asTool(name))),
  ];
  const replace = (key: number, part: Partial<ToolDraft>): void =>
    change({
      tools: draft.tools.map((tool) => (tool.key === key ? { ...tool, ...part } : tool)),
    });
  return (
    <Stack gap="sm" align="stretch">
      {draft.tools.length === 0 && <Empty {...text.empty} />}
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
          {text.add}
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
  const unnamed = tool.tool.trim() === '';
  const replace = (key: number, part: Partial<RuleDraft>): void =>
    onChange({ rules: tool.rules.map((rule) => (rule.key === key ? { ...rule, ...part } : rule)) });
  return (
    <Card
      withBorder
      role="group"
      aria-label={unnamed ? text.rulesForUnnamed : text.rulesFor(tool.tool)}
    >
      <Stack gap="sm">
        <Group align="flex-end" gap="xs">
          <Autocomplete
            label={words.tool}
            value={tool.tool}
            onChange={(value) => onChange({ tool: value })}
            data={known}
            error={taken ? text.taken : undefined}
            flex={1}
            miw={200}
            maxLength={200}
            required
          />
          <Button
            variant="light"
            color="danger"
            onClick={onRemove}
            aria-label={unnamed ? text.removeRulesForUnnamed : text.removeRulesFor(tool.tool)}
          >
            {words.remove}
          </Button>
        </Group>
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
            {text.blockArgument}
          </Button>
        </Group>
      </Stack>
    </Card>
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
        label={text.limit}
        checked={workflowIds !== undefined}
        onChange={(event) => onChange(event.currentTarget.checked ? [] : undefined)}
      />
      {workflowIds !== undefined && (
        <MultiSelect
          label={text.allowedWorkflows}
          value={workflowIds}
          onChange={onChange}
          searchable
          data={[
            ...workflows.map(({ id, name }) => ({ value: id, label: name })),
            ...gone.map((id) => ({ value: id, label: id })),
          ]}
          {...(workflowIds.length === 0 && {
            description: text.noWorkflow,
          })}
        />
      )}
    </>
  );
}
