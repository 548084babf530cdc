import { Select, Skeleton, Text } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { IconGitFork } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { Fork, JsonObject, Run, Step, Workflow } from '#client/index.ts';
import { api } from '#console/src/api.ts';
import { words } from '#console/src/messages/en/words.ts';
import { againFields, fork as text } from '#console/src/messages/en/runs/actions.ts';
import { Message } from '#console/src/messages/message.tsx';
import { ModalButton } from '#console/src/parts/forms/modal-button.tsx';
import { isRecord } from '#console/src/parts/data/record.ts';
import { useAction } from '#console/src/parts/forms/action.ts';
import { Form } from '#console/src/parts/forms/form.tsx';
import { ChangedState } from '#console/src/parts/forms/changed-state.tsx';
import { anObject, JsonField } from '#console/src/parts/forms/json-field.tsx';
import { useMay } from '#console/src/queries/identity.ts';
import { runsKey } from '#console/src/queries/runs.ts';
import { workflowQuery } from '#console/src/queries/workflows.ts';
import { useStateAt } from '#console/src/pages/runs/state-at.ts';
import { listedName } from '#console/src/pages/runs/steps/agent-steps.ts';
import { RehearsalSwitch, type RehearsalGiven, rehearsalOptions } from './rehearsal-fields.tsx';
import { useOpenRun } from '#console/src/parts/open-run.ts';

/** Starts a run from a step of this one. */
export function ForkButton({ run, step }: { run: Run; step: Step }) {
  const mayRun = useMay('run_workflows');
  if (!mayRun || step.status === 'skipped') return null;
  return (
    <ModalButton
      size="compact-sm"
      leftSection={<IconGitFork size={14} aria-hidden />}
      label={text.button}
      title={text.title}
      width="lg"
    >
      {(close) => <ForkForm run={run} step={step} onClose={close} />}
    </ModalButton>
  );
}

/** What a fork executes: a version, by its number, or the draft. */
const DRAFT = 'draft';

function graphChoices(run: Run, workflow: Workflow | undefined) {
  const own = {
    value: '',
    label: run.of_draft ? againFields.asInRun : againFields.versionOfRun(run.workflow_version),
  };
  if (workflow === undefined) return [own];
  const { version, has_draft: hasDraft } = workflow;
  return [
    own,
    ...(version === run.workflow_version && !run.of_draft
      ? []
      : [{ value: String(version), label: againFields.currentVersion(version) }]),
    ...(hasDraft ? [{ value: DRAFT, label: againFields.draft }] : []),
  ];
}

function ForkForm({ run, step, onClose }: { run: Run; step: Step; onClose: () => void }) {
  const openRun = useOpenRun();
  const [given, setGiven] = useState<Given>({ graph: '' });
  const [broken, setBroken] = useState<BrokenFields>({ input: false, state: false });
  const state = useStateAt(run, step.step_key);
  const fork = useAction(() => api().fork(run.id, step.step_key, givenOptions(given)), {
    changes: [runsKey],
    quiet: true,
    onDone: (forked) => {
      showNotReused(forked);
      onClose();
      openRun(forked.id);
    },
  });
  return (
    <Form
      action={fork}
      submit={text.submit}
      ready={!broken.input && !broken.state}
      onCancel={onClose}
    >
      <Text size="sm">
        <Message text={text.about} values={{ step: listedName(step) }} />
      </Text>
      {state === undefined ? (
        <Skeleton h={160} />
      ) : (
        <ChangedState
          state={state ?? {}}
          description={state === null ? text.unknownState : text.aboutState}
          onChange={(changed) => setGiven((before) => ({ ...before, state: changed }))}
          onBroken={(is) => setBroken((before) => ({ ...before, state: is }))}
        />
      )}
      <AgainFields
        run={run}
        given={given}
        inputText={text.aboutInput}
        onChange={setGiven}
        onBroken={(is) => setBroken((before) => ({ ...before, input: is }))}
      />
      <RehearsalSwitch
        value={given.rehearsal}
        onChange={(rehearsal) => setGiven({ ...given, rehearsal })}
      />
    </Form>
  );
}

export interface Given {
  /** Empty: the run's graph. */
  graph: string;
  input?: JsonObject | undefined;
  state?: JsonObject | undefined;
  /** Undefined for an ordinary run. */
  rehearsal?: RehearsalGiven | undefined;
}
interface BrokenFields {
  input: boolean;
  state: boolean;
}

export const givenOptions = ({ graph, input, state, rehearsal }: Given) => ({
  input,
  state,
  ...(graph === DRAFT && { draft: true }),
  ...(graph !== '' && graph !== DRAFT && { version: Number(graph) }),
  ...rehearsalOptions(rehearsal),
});

/** What may differ from the run. */
export function AgainFields({
  run,
  given,
  inputText,
  onChange,
  onBroken,
}: {
  run: Run;
  given: Given;
  inputText: string;
  onChange: (given: Given) => void;
  onBroken: (broken: boolean) => void;
}) {
  const { data: workflow } = useQuery(workflowQuery(run.workflow_id));
  return (
    <>
      <Select
        label={words.graph}
        data={graphChoices(run, workflow)}
        value={given.graph}
        allowDeselect={false}
        onChange={(value) => onChange({ ...given, graph: value ?? '' })}
      />
      <JsonField
        label={words.input}
        description={inputText}
        value={given.input ?? run.input}
        judge={anObject}
        onBroken={onBroken}
        onChange={(value) =>
          onChange({ ...given, input: isRecord(value) ? (value as JsonObject) : undefined })
        }
      />
    </>
  );
}

function showNotReused({ not_reused: again, mode }: Fork): void {
  if (again.length === 0 || mode !== null) return;
  notifications.show({
    color: 'warning',
    title: text.notReused(again.length),
    message: again.map(({ step_key, reason }) => `${step_key}: ${reason}`).join('; '),
  });
}
