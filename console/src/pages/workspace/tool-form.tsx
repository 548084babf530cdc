import { Group, NativeSelect, NumberInput, Textarea, TextInput } from '@mantine/core';
import { useState } from 'react';
import type { BodyOf, CustomTool } from '../../../../client/index.ts';
import { api } from '../../api.ts';
import { useAction } from '../../parts/forms/action.ts';
import { CodeEditor } from '../../parts/code/code-editor.tsx';
import { Form } from '../../parts/forms/form.tsx';
import { toolsKey } from '../../queries/tools.ts';
import { HeaderFields } from './header-fields.tsx';
import { draftOf, methods, toolOf, type ToolDraft, toolProblems } from './tool-draft.ts';

function useToolForm({ tool, onClose }: { tool: CustomTool | undefined; onClose: () => void }) {
  const [draft, setDraft] = useState(() => draftOf(tool));
  const change = (part: Partial<ToolDraft>): void => setDraft({ ...draft, ...part });
  const problems = toolProblems(draft);
  const save = useAction(
    (body: BodyOf<'POST /api/tools'>) =>
      tool === undefined ? api().registerTool(body) : api().updateTool(tool.id, body),
    {
      changes: [toolsKey],
      done: tool === undefined ? 'Tool created' : 'Tool saved',
      onDone: onClose,
      quiet: true,
    },
  );
  return { save, draft, problems, change };
}

type ToolFormState = ReturnType<typeof useToolForm>;

/** Registers or edits a tool. Its name cannot change, because graphs call the tool by it. */
export function ToolForm({ tool, onClose }: { tool: CustomTool | undefined; onClose: () => void }) {
  const state = useToolForm({ tool, onClose });
  const { save, draft, problems, change } = state;
  return (
    <Form
      action={save}
      submit={tool === undefined ? 'Create tool' : 'Save changes'}
      onSubmit={() => save.mutate(toolOf(draft))}
      onCancel={onClose}
      ready={Object.keys(problems).length === 0 && draft.name !== '' && draft.url !== ''}
    >
      <Naming {...state} tool={tool} />
      <Textarea
        label="Description"
        value={draft.description}
        onChange={(event) => change({ description: event.currentTarget.value })}
        autosize
        maxLength={5_000}
      />
      <Target draft={draft} change={change} problem={problems.url} />
      <HeaderFields
        headers={draft.headers}
        onChange={(headers) => change({ headers })}
        problem={problems.headers}
      />
      <CodeEditor
        label="Input schema (JSON Schema)"
        description="Arguments are validated against it before each call. Leave empty to accept any arguments."
        language="json"
        value={draft.schema}
        onChange={(schema) => change({ schema })}
        minHeight={80}
        maxHeight={240}
        error={problems.schema}
      />
      <Limits {...state} />
    </Form>
  );
}

function Naming({
  draft,
  change,
  problems,
  tool,
}: ToolFormState & { tool: CustomTool | undefined }) {
  return (
    <Group grow align="flex-start">
      <TextInput
        label="Name"
        description="Workflows call it as custom:name"
        value={draft.name}
        onChange={(event) => change({ name: event.currentTarget.value })}
        error={problems.name}
        disabled={tool !== undefined}
        maxLength={64}
        required
        data-autofocus
      />
      <TextInput
        label="Label"
        description="Display name"
        value={draft.label}
        onChange={(event) => change({ label: event.currentTarget.value })}
        maxLength={200}
      />
    </Group>
  );
}

function Limits({ draft, change }: ToolFormState) {
  return (
    <Group grow align="flex-start">
      <NumberInput
        label="Timeout (seconds)"
        value={draft.timeout}
        onChange={(value) => change({ timeout: Number(value) })}
        min={1}
        max={3_600}
        allowDecimal={false}
      />
      <NumberInput
        label="Retries"
        value={draft.retries}
        onChange={(value) => change({ retries: Number(value) })}
        min={0}
        max={10}
        allowDecimal={false}
      />
    </Group>
  );
}

function Target({
  draft,
  change,
  problem,
}: {
  draft: ToolDraft;
  change: (part: Partial<ToolDraft>) => void;
  problem: string | undefined;
}) {
  return (
    <>
      <Group grow align="flex-start">
        <NativeSelect
          label="Kind"
          value={draft.kind}
          onChange={(event) => change({ kind: event.currentTarget.value as ToolDraft['kind'] })}
          data={[
            { value: 'http', label: 'HTTP endpoint' },
            { value: 'mcp', label: 'MCP server tool' },
          ]}
        />
        {draft.kind === 'http' ? (
          <NativeSelect
            label="Method"
            value={draft.method}
            onChange={(event) =>
              change({ method: event.currentTarget.value as ToolDraft['method'] })
            }
            data={methods}
          />
        ) : (
          <TextInput
            label="Tool name on the server"
            value={draft.mcpTool}
            onChange={(event) => change({ mcpTool: event.currentTarget.value })}
            maxLength={200}
            required
          />
        )}
      </Group>
      <TextInput
        type="url"
        label="URL"
        description="Called exactly as entered. Do not put secrets in the URL: use headers."
        placeholder="https://tools.example.com/crm/lookup"
        value={draft.url}
        onChange={(event) => change({ url: event.currentTarget.value })}
        error={problem}
        maxLength={2_000}
        required
      />
    </>
  );
}
