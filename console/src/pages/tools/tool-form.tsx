import { Group, NumberInput, Switch, Textarea, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useState } from 'react';
import type { CustomTool } from '#client/index.ts';
import { api } from '#console/src/api.ts';
import { words } from '#console/src/messages/en/words.ts';
import { toolForm as text } from '#console/src/messages/en/workspace/tools.ts';
import { editForm, useEdit } from '#console/src/parts/forms/edited.tsx';
import { Form } from '#console/src/parts/forms/form.tsx';
import { SchemaBuilder } from '#console/src/parts/forms/schema-builder/schema-builder.tsx';
import { toolsKey } from '#console/src/queries/workspace.ts';
import { AuthFields } from './auth-fields.tsx';
import { HeaderFields } from './header-fields.tsx';
import { TargetFields } from './target-fields.tsx';
import {
  draftOf,
  isComplete,
  longestTimeout,
  textsOf,
  toolOf,
  toolProblems,
} from './tool-draft.ts';

/** Registers or edits a tool. Its name cannot change, because graphs call the tool by it. */
export const ToolForm = editForm<CustomTool, { onClose: () => void }, undefined>(
  function ToolFields({ editing, onClose }) {
    const tool = editing?.record;
    const form = useForm({ initialValues: draftOf(tool) });
    const { values } = form;
    const problems = toolProblems(values);
    const [schema, setSchema] = useState(tool?.input_schema ?? undefined);
    const [broken, setBroken] = useState(false);
    // What an API document says of a tool only changes with the document.
    const described = tool !== undefined && tool.request !== null;
    const [auth, setAuth] = useState(tool?.auth ?? undefined);
    const fields = toolOf(values, schema);
    const changes = described ? { ...textsOf(fields), auth: auth ?? null } : fields;
    const save = useEdit<CustomTool, CustomTool>(
      editing,
      changes,
      (known) =>
        tool === undefined ? api().registerTool(fields) : api().updateTool(tool.id, changes, known),
      {
        changes: [toolsKey],
        done: tool === undefined ? text.created : text.saved,
        onDone: onClose,
      },
    );
    return (
      <Form
        action={save}
        submit={tool === undefined ? text.create : words.saveChanges}
        onCancel={onClose}
        ready={
          !broken && Object.keys(problems).length === 0 && values.name !== '' && isComplete(values)
        }
      >
        <Group grow align="flex-start">
          <TextInput
            label={words.name}
            description={text.aboutName}
            disabled={tool !== undefined}
            maxLength={64}
            required
            data-autofocus
            {...form.getInputProps('name')}
            error={problems.name}
          />
          <TextInput
            label={text.label}
            description={text.aboutLabel}
            maxLength={200}
            {...form.getInputProps('label')}
          />
        </Group>
        <Textarea
          label={words.description}
          autosize
          maxLength={5_000}
          {...form.getInputProps('description')}
        />
        {described ? (
          <>
            <AuthFields schemes={[]} value={auth} onChange={setAuth} />
            <HeaderFields
              headers={values.headers}
              onChange={(headers) => form.setFieldValue('headers', headers)}
              problem={problems.headers}
            />
          </>
        ) : (
          <TargetFields form={form} problems={problems} />
        )}
        {!described && (
          <SchemaBuilder
            label={text.schema}
            description={text.aboutSchema}
            value={schema}
            onChange={setSchema}
            onBroken={setBroken}
          />
        )}
        <Group grow align="flex-start">
          <NumberInput
            label={text.timeout}
            value={Math.min(values.timeout, longestTimeout(values.kind))}
            onChange={(value) => form.setFieldValue('timeout', Number(value))}
            min={1}
            max={longestTimeout(values.kind)}
            allowDecimal={false}
          />
          <NumberInput
            label={text.retries}
            value={values.retries}
            onChange={(value) => form.setFieldValue('retries', Number(value))}
            min={0}
            max={10}
            allowDecimal={false}
          />
        </Group>
        {values.kind !== 'code' && (
          <Switch
            label={text.readOnly}
            description={text.aboutReadOnly}
            {...form.getInputProps('readOnly', { type: 'checkbox' })}
          />
        )}
      </Form>
    );
  },
);
