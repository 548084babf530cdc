import { SegmentedControl } from '@mantine/core';
import { useState } from 'react';
import { ApiError, type BodyOf, type ToolImport as Imported } from '#client/index.ts';
import { api } from '#console/src/api.ts';
import { toolImport as text } from '#console/src/messages/en/workspace/tools.ts';
import { useAction } from '#console/src/parts/forms/action.ts';
import { Form } from '#console/src/parts/forms/form.tsx';
import { DocumentFields } from './document-fields.tsx';
import { ServerFields } from './server-fields.tsx';
import { SignInNeeded } from './sign-in-needed.tsx';
import { isReady, newSource, type SourceDraft, sourceOf } from './tool-source.ts';
import { ToolChoice } from './tool-choice.tsx';

/** Lists the tools of an MCP server or an API document, and registers those that are chosen. */
export function ToolImport({
  initial = newSource,
  onClose,
}: {
  initial?: SourceDraft;
  onClose: () => void;
}) {
  const [draft, setDraft] = useState(initial);
  const [found, setFound] = useState<Imported>();
  const source: BodyOf<'POST /api/tools/import'> = sourceOf(draft);
  const list = useAction(
    (given: SourceDraft = draft) => api().importTools({ ...sourceOf(given), only_list: true }),
    { changes: [], quiet: true, onDone: setFound },
  );
  const needed = list.error instanceof ApiError ? list.error.needsSignIn : undefined;
  const useConnection = (connection: string): void => {
    const changed: SourceDraft = { ...draft, auth: { connection, as: 'bearer' } };
    setDraft(changed);
    list.mutate(changed);
  };
  if (found !== undefined) {
    return <ToolChoice {...{ source, found, onClose }} onBack={() => setFound(undefined)} />;
  }
  const Fields = draft.from === 'mcp' ? ServerFields : DocumentFields;
  return (
    <Form
      action={needed === undefined ? list : { ...list, error: null }}
      submit={text.list}
      onCancel={onClose}
      ready={isReady(draft)}
    >
      <SegmentedControl
        aria-label={text.from}
        data={[
          { value: 'mcp', label: text.sources.mcp },
          { value: 'openapi', label: text.sources.openapi },
        ]}
        value={draft.from}
        onChange={(from) => setDraft({ ...draft, from })}
      />
      <Fields draft={draft} onChange={setDraft} />
      {needed !== undefined && !list.isPending && (
        <SignInNeeded needed={needed} chosen={draft.auth?.connection} onUse={useConnection} />
      )}
    </Form>
  );
}
