import { Button, Group, Modal } from '@mantine/core';
import { useState } from 'react';
import type { JsonObject } from '#client/index.ts';
import { words } from '#console/src/messages/en/words.ts';
import { runForm as text } from '#console/src/messages/en/workflows/editor.ts';
import { Form } from '#console/src/parts/forms/form.tsx';
import { isOverBudget } from '#console/src/parts/text/budget-link.tsx';
import { describeError } from '#console/src/parts/text/describe-error.ts';
import { Dimmed } from '#console/src/parts/text/dimmed.tsx';
import { DryRunPanel } from '#console/src/pages/workflows/dry-run-panel.tsx';
import { Problems } from '#console/src/pages/workflows/mistakes/problems.tsx';
import type { Checked } from '#console/src/pages/workflows/mistakes/use-mistakes.ts';
import type { Content, Saving } from '#console/src/pages/workflows/publishing/use-saving.tsx';
import { RunInput, useSuggestedInput } from '#console/src/pages/workflows/run-input.tsx';
import type { DraftRun } from './draft-run.ts';
import { useRunKey } from './use-run-key.ts';

interface RunFormProps {
  content: Content;
  checked: Checked;
  draftRun: DraftRun;
  saving: Saving;
  onClose: () => void;
  onStarted: () => void;
}

/** Asks for the input of a run of the editor's content, and starts it. */
export function RunDraft({ opened, ...form }: RunFormProps & { opened: boolean }) {
  return (
    <Modal opened={opened} onClose={form.onClose} title={text.title} size="lg">
      <RunForm {...form} />
    </Modal>
  );
}

function RunForm({ content, checked, draftRun, saving, onClose, onStarted }: RunFormProps) {
  const { workflowId, run, start } = draftRun;
  const suggested = useSuggestedInput({ graph: content.graph, input_schema: content.inputSchema });
  const [typed, setTyped] = useState<JsonObject>();
  const [broken, setBroken] = useState(false);
  const input = typed ?? begin(suggested, run?.input as JsonObject | undefined);
  const send = (): void =>
    start.mutate(input, {
      onSuccess: () => {
        onStarted();
        onClose();
      },
    });
  useRunKey(send, { ready: !broken && !start.isPending, inDialog: true });
  return (
    <Form action={start} submit={words.run} ready={!broken} onSubmit={send} onCancel={onClose}>
      <Problems checked={checked} title={text.problems} />
      <RunInput
        label={words.input}
        schema={content.inputSchema}
        refusal={start.error === null ? undefined : describeError(start.error)}
        value={input}
        suggested={suggested}
        onChange={setTyped}
        onBroken={setBroken}
      />
      <Dimmed>
        {saving.unsaved && `${text.savedFirst} `}
        {text.isReal}
      </Dimmed>
      {!isOverBudget(start.error) && <Estimate {...{ workflowId, content, saving, input }} />}
    </Form>
  );
}

/** What the run would cost and need, and why it could be refused. The service examines the saved draft. */
function Estimate({
  workflowId,
  content,
  saving,
  input,
}: Pick<RunFormProps, 'content' | 'saving'> & { workflowId: string; input: JsonObject }) {
  if (saving.unsaved) {
    return (
      <Group gap="xs">
        <Button size="compact-sm" variant="default" onClick={saving.save}>
          {text.estimate}
        </Button>
        <Dimmed>{text.estimateAbout}</Dimmed>
      </Group>
    );
  }
  return (
    <DryRunPanel
      workflow={{ id: workflowId, graph: content.graph }}
      input={input}
      draft={saving.etag}
    />
  );
}

/** The input of the last run, without keys that are no longer expected, and with new ones. */
function begin(suggested: JsonObject, last: JsonObject | undefined): JsonObject {
  if (last === undefined) return suggested;
  const keys = Object.keys(suggested);
  if (keys.length === 0) return last;
  return Object.fromEntries(keys.map((key) => [key, last[key] ?? suggested[key]])) as JsonObject;
}
