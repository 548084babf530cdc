import { TextInput } from '@mantine/core';
import { toolImport as text } from '#console/src/messages/en/workspace/tools.ts';
import { AuthFields } from './auth-fields.tsx';
import { HeaderFields } from './header-fields.tsx';
import { headerProblem, urlProblem } from './tool-draft.ts';
import type { SourceFields } from './tool-source.ts';

/** The MCP server whose tools are imported. */
export function ServerFields({ draft, onChange }: SourceFields) {
  return (
    <>
      <TextInput
        type="url"
        label={text.url}
        placeholder="https://tools.example.com/mcp"
        maxLength={2_000}
        required
        data-autofocus
        value={draft.url}
        onChange={({ currentTarget: { value } }) => onChange({ ...draft, url: value })}
        error={urlProblem(draft.url)}
      />
      <AuthFields
        schemes={[]}
        value={draft.auth}
        onChange={(auth) => onChange({ ...draft, auth })}
        about={text.aboutServerAuth}
      />
      <HeaderFields
        headers={draft.headers}
        onChange={(headers) => onChange({ ...draft, headers })}
        problem={headerProblem(draft.headers)}
      />
      <PrefixField draft={draft} onChange={onChange} />
    </>
  );
}

export function PrefixField({ draft, onChange }: SourceFields) {
  return (
    <TextInput
      label={text.prefix}
      description={text.aboutPrefix}
      placeholder="crm_"
      maxLength={32}
      value={draft.prefix}
      onChange={({ currentTarget: { value } }) => onChange({ ...draft, prefix: value })}
    />
  );
}
