import { Group, NativeSelect, TextInput } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import { words } from '#console/src/messages/en/words.ts';
import { toolForm as text, toolKinds } from '#console/src/messages/en/workspace/tools.ts';
import { CodeEditor } from '#console/src/parts/code/code-editor.tsx';
import { HeaderFields } from './header-fields.tsx';
import { methods, type ToolDraft, type ToolProblems } from './tool-draft.ts';

const languages = Object.entries(text.languages).map(([value, label]) => ({ value, label }));

/** What a tool calls, or computes. */
export function TargetFields({
  form,
  problems,
}: {
  form: UseFormReturnType<ToolDraft>;
  problems: ToolProblems;
}) {
  const { values } = form;
  return (
    <>
      <Group grow align="flex-start">
        <NativeSelect
          label={words.kind}
          data={[
            { value: 'http', label: toolKinds.http },
            { value: 'mcp', label: toolKinds.mcp },
            { value: 'code', label: toolKinds.code },
          ]}
          {...form.getInputProps('kind')}
        />
        {values.kind === 'http' && (
          <NativeSelect label={text.method} data={methods} {...form.getInputProps('method')} />
        )}
        {values.kind === 'code' && (
          <NativeSelect
            label={text.language}
            data={languages}
            {...form.getInputProps('language')}
          />
        )}
        {values.kind === 'mcp' && (
          <TextInput
            label={text.mcpTool}
            maxLength={200}
            required
            {...form.getInputProps('mcpTool')}
          />
        )}
      </Group>
      {values.kind === 'code' ? (
        <CodeEditor
          label={text.source}
          description={text.aboutSource}
          language={values.language}
          value={values.source}
          minHeight={160}
          onChange={(source) => form.setFieldValue('source', source)}
        />
      ) : (
        <>
          <TextInput
            type="url"
            label={text.url}
            description={text.aboutUrl}
            placeholder="https://tools.example.com/crm/lookup"
            maxLength={2_000}
            required
            {...form.getInputProps('url')}
            error={problems.url}
          />
          <HeaderFields
            headers={values.headers}
            onChange={(headers) => form.setFieldValue('headers', headers)}
            problem={problems.headers}
          />
        </>
      )}
    </>
  );
}
