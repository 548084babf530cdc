import { Button, Group, Paper, Text } from '@mantine/core';
import { useBlocker } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import type { Policies } from '../../../../../client/index.ts';
import { api } from '../../../api.ts';
import { useAction } from '../../../parts/forms/action.ts';
import { Failure } from '../../../parts/failure.tsx';
import { Section } from '../../../parts/page.tsx';
import { policiesKey } from '../../../queries/policies.ts';
import { ModelRules } from './model-rules.tsx';
import { draftOf, policiesOf, type PolicyDraft, sameValue } from './policy-draft.ts';
import { RedactionRules } from './redaction-rules.tsx';
import { RedactionTester } from './redaction-tester.tsx';
import { ToolRules } from './tool-rules.tsx';

/** All policies in one form, saved together, with a test of the unsaved redaction rules. */
export function PoliciesForm({ loaded }: { loaded: Policies }) {
  const [saved, setSaved] = useState(loaded);
  const [draft, setDraft] = useState(() => draftOf(loaded));
  const drafted = useMemo(() => policiesOf(draft), [draft]);
  const changed = !sameValue(drafted, policiesOf(draftOf(saved)));
  const change = (part: Partial<PolicyDraft>): void => setDraft({ ...draft, ...part });
  const take = (policies: Policies): void => {
    setSaved(policies);
    setDraft(draftOf(policies));
  };
  const elsewhere = !sameValue(loaded, saved);
  // Show policies that another user saved, unless this form has unsaved changes.
  if (elsewhere && !changed) take(loaded);
  useKeep(changed);

  const save = useAction((policies: Policies) => api().setPolicies(policies), {
    changes: [policiesKey],
    done: 'Policies saved',
    onDone: take,
    quiet: true,
  });
  return (
    <>
      <Section title="Models">
        <ModelRules draft={draft} change={change} />
      </Section>
      <Section title="Tools">
        <ToolRules draft={draft} change={change} />
      </Section>
      <Section title="Redaction">
        <RedactionRules draft={draft} change={change} />
      </Section>
      <RedactionTester redaction={drafted.redaction} />
      {changed && (
        <SaveBar
          saving={save.isPending}
          overwrites={elsewhere}
          error={save.error}
          onSave={() => save.mutate(drafted)}
          onDiscard={() => {
            save.reset();
            take(loaded);
          }}
        />
      )}
    </>
  );
}

function SaveBar({
  saving,
  overwrites,
  error,
  onSave,
  onDiscard,
}: {
  saving: boolean;
  /** Another user has saved since this form was filled. */
  overwrites: boolean;
  error: Error | null;
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
      aria-label="Unsaved changes"
    >
      {error !== null && <Failure error={error} />}
      <Group justify="space-between" gap="xs">
        <Text size="sm">
          {overwrites
            ? 'Someone else saved the policies. Saving overwrites their changes.'
            : 'You have unsaved changes.'}
        </Text>
        <Group gap="xs">
          <Button variant="default" size="compact-sm" onClick={onDiscard}>
            Discard changes
          </Button>
          <Button size="compact-sm" loading={saving} onClick={onSave}>
            Save policies
          </Button>
        </Group>
      </Group>
    </Paper>
  );
}

/** Asks before leaving with unsaved changes. */
function useKeep(changed: boolean): void {
  useBlocker({
    shouldBlockFn: () => changed && !window.confirm('Leave without saving the policies?'),
    enableBeforeUnload: () => changed,
  });
}
