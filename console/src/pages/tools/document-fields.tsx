import { FileInput, TextInput } from '@mantine/core';
import { toolImport as text } from '#console/src/messages/en/workspace/tools.ts';
import { PrefixField } from './server-fields.tsx';
import { urlProblem } from './tool-draft.ts';
import type { SourceFields } from './tool-source.ts';

/** The API document whose operations are imported. */
export function DocumentFields({ draft, onChange }: SourceFields) {
  const choose = async (file: File | null): Promise<void> => {
    onChange({ ...draft, file, document: '' });
    if (file !== null) onChange({ ...draft, file, document: await file.text() });
  };
  return (
    <>
      <TextInput
        type="url"
        label={text.documentUrl}
        description={text.aboutDocument}
        placeholder="https://api.example.com/openapi.json"
        maxLength={2_000}
        disabled={draft.file !== null}
        data-autofocus
        value={draft.documentUrl}
        onChange={({ currentTarget: { value } }) => onChange({ ...draft, documentUrl: value })}
        error={urlProblem(draft.documentUrl)}
      />
      <FileInput
        label={text.file}
        accept=".json,.yaml,.yml,application/json,application/yaml"
        clearable
        value={draft.file}
        onChange={(file) => void choose(file)}
      />
      <TextInput
        type="url"
        label={text.server}
        description={text.aboutServer}
        placeholder="https://api.example.com/v1"
        maxLength={2_000}
        value={draft.server}
        onChange={({ currentTarget: { value } }) => onChange({ ...draft, server: value })}
      />
      <PrefixField draft={draft} onChange={onChange} />
    </>
  );
}
