import { Group, NativeSelect, NumberInput, Textarea, TextInput } from '@mantine/core';
import { useState } from 'react';
import type { CustomTool } from '#client/index.ts';
import { api } from '#console/src/api.ts';
import { words } from '#console/src/messages/en/words.ts';
import { toolForm as text, toolKinds } from '#console/src/messages/en/workspace/tools.ts';
import { Edited, type Editing, useEdit } from '#console/src/parts/forms/edited.tsx';
import { CodeEditor } from '#console/src/parts/code/code-editor.tsx';
import { Form } from '#console/src/parts/forms/form.tsx';
import { toolsKey } from '#console/src/queries/tools.ts';
import { HeaderFields } from './header-fields.tsx';
import { draftOf, methods, toolOf, type ToolDraft, toolProblems } from './tool-draft.ts';

function useToolForm({ editing, onClose }: FormProps) {
  const tool = editing?.record;
  const [draft, setDraft] = useState(() => draftOf(tool));
  const change = (part: Partial<ToolDraft>): void => setDraft({ ...draft, ...part });
  const problems = toolProblems(draft);
  const fields = toolOf(draft);
  const save = useEdit<CustomTool, CustomTool>(
    editing,
    fields,
    (known) =>
      tool === undefined ? api().registerTool(fields) : api().updateTool(tool.id, fields, known),
    {
      changes: [toolsKey],
      done: tool === undefined ? text.created : text.saved,
      onDone: onClose,
    },
  );
  return { save, draft, problems, change };
}

type ToolFormState = ReturnType<typeof useToolForm>;

/** Registers or edits a tool. Its name cannot change, because graphs call the tool by it. */
export function ToolForm({ tool, onClose }: { tool: CustomTool | undefined; onClose: () => void }) {
  return (
    <Edited<CustomTool> record={tool}>
      {(editing) => <ToolFields editing={editing} onClose={onClose} />}
    </Edited>
  );
}

interface FormProps {
  editing: Editing<CustomTool> | undefined;
  onClose: () => void;
}

function ToolFields({ editing, onClose }: FormProps) {
  const tool = editing?.record;
  const state = useToolForm({ editing, onClose });
  const { save, draft, problems, change } = state;
  return (
    <Form
      action={save}
      submit={tool === undefined ? text.create : words.saveChanges}
      onSubmit={() => save.mutate(undefined)}
      onCancel={onClose}
      ready={Object.keys(problems).length === 0 && draft.name !== '' && draft.url !== ''}
    >
      <Naming {...state} tool={tool} />
      <Textarea
        label={words.description}
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
        label={text.schema}
        description={text.aboutSchema}
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
        label={words.name}
        description={text.aboutName}
        value={draft.name}
        onChange={(event) => change({ name: event.currentTarget.value })}
        error={problems.name}
        disabled={tool !== undefined}
        maxLength={64}
        required
        data-autofocus
      />
      <TextInput
        label={text.label}
        description={text.aboutLabel}
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
        label={text.timeout}
        value={draft.timeout}
        onChange={(value) => change({ timeout: Number(value) })}
        min={1}
        max={3_600}
        allowDecimal={false}
      />
      <NumberInput
        label={text.retries}
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
          label={text.kind}
          value={draft.kind}
          onChange={(event) => change({ kind: event.currentTarget.value as ToolDraft['kind'] })}
          data={[
            { value: 'http', label: toolKinds.http },
            { value: 'mcp', label: toolKinds.mcp },
          ]}
        />
        {draft.kind === 'http' ? (
          <NativeSelect
            label={text.method}
            value={draft.method}
            onChange={(event) =>
              change({ method: event.currentTarget.value as ToolDraft['method'] })
            }
            data={methods}
          />
        ) : (
          <TextInput
            label={text.mcpTool}
            value={draft.mcpTool}
            onChange={(event) => change({ mcpTool: event.currentTarget.value })}
            maxLength={200}
            required
          />
        )}
      </Group>
      <TextInput
        type="url"
        label={text.url}
        description={text.aboutUrl}
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
