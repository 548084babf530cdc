import { Button, Group, Paper, Text } from '@mantine/core';
import { useBlocker } from '@tanstack/react-router';
import { type ComponentProps, useMemo, useState } from 'react';
import type { Policies } from '#client/index.ts';
import { api } from '#console/src/api.ts';
import { policiesForm as text } from '#console/src/messages/en/governance/policies.ts';
import { editForm, useEdit } from '#console/src/parts/forms/edited.tsx';
import { Refusal } from '#console/src/parts/forms/form.tsx';
import { Section } from '#console/src/parts/page.tsx';
import { policiesKey } from '#console/src/queries/policies.ts';
import { tagged } from '#console/src/queries/tagged.ts';
import { HistoryTrial } from './backtests/history-trial.tsx';
import { CallLimits } from './call-limits.tsx';
import { ModelRules } from './model-rules.tsx';
import { draftOf, policiesOf, type PolicyDraft, sameValue } from './policy-draft.ts';
import { RedactionRules } from './redaction-rules.tsx';
import { RedactionTester } from './redaction-tester.tsx';
import { ToolRules } from './tool-rules.tsx';

/** All policies in one form, saved together, with a test of the unsaved redaction rules. */
export const PoliciesForm = editForm<Policies, object>(function PoliciesFields({ editing }) {
  const { base, record } = editing;
  const [draft, setDraft] = useState(() => draftOf(record));
  const drafted = useMemo(() => policiesOf(draft), [draft]);
  const unsaved = !sameValue(drafted, policiesOf(draftOf(base)));
  const change = (part: Partial<PolicyDraft>): void => setDraft({ ...draft, ...part });
  useKeep(unsaved);

  const save = useEdit(
    editing,
    // The form writes the same policies in a different way, so only actual changes count as entered.
    unsaved ? drafted : {},
    (known) => api().setPolicies(drafted, known),
    {
      changes: [policiesKey],
      done: text.saved,
      onDone: (saved) => editing.reload(tagged(saved), {}),
    },
    editing.latest,
  );
  return (
    <>
      <Section title={text.models}>
        <ModelRules draft={draft} change={change} />
      </Section>
      <Section title={text.tools}>
        <ToolRules draft={draft} change={change} />
      </Section>
      <Section title={text.limits}>
        <CallLimits draft={draft} change={change} />
      </Section>
      <Section title={text.redaction}>
        <RedactionRules draft={draft} change={change} />
      </Section>
      <RedactionTester redaction={drafted.redaction} />
      <HistoryTrial policies={drafted} />
      {unsaved && (
        <SaveBar
          save={save}
          onSave={() => save.mutate(undefined)}
          onDiscard={() => editing.reload(editing.latest, {})}
        />
      )}
    </>
  );
});

function SaveBar({
  save,
  onSave,
  onDiscard,
}: {
  save: ComponentProps<typeof Refusal>['action'];
  onSave: () => void;
  onDiscard: () => void;
}) {
  return (
    <Paper
      withBorder
      shadow="md"
      p="sm"
      pos="sticky"
      bottom={16}
      style={{ zIndex: 10 }}
      role="region"
      aria-label={text.unsaved}
    >
      <Refusal action={save} />
      <Group justify="space-between" gap="xs">
        <Text size="sm">{text.unsavedAbout}</Text>
        <Group gap="xs">
          <Button variant="default" size="compact-sm" onClick={onDiscard}>
            {text.discard}
          </Button>
          <Button
            size="compact-sm"
            disabled={save.changed !== undefined}
            loading={save.isPending}
            onClick={onSave}
          >
            {text.save}
          </Button>
        </Group>
      </Group>
    </Paper>
  );
}

/** Asks for confirmation before leaving with unsaved changes. */
function useKeep(changed: boolean): void {
  useBlocker({
    shouldBlockFn: () => changed && !window.confirm(text.leave),
    enableBeforeUnload: () => changed,
  });
}
