import { Checkbox, NumberInput, Select, Text } from '@mantine/core';
import { useForm } from '@mantine/form';
import { IconFlask } from '@tabler/icons-react';
import { useNavigate } from '@tanstack/react-router';
import type { BodyOf, Workflow } from '#client/index.ts';
import { MAX_EXPERIMENT_RUNS } from '#shared/contract/experiments/experiment.ts';
import { api } from '#console/src/api.ts';
import { words } from '#console/src/messages/en/words.ts';
import { startExperiment as text } from '#console/src/messages/en/workflows/experiments.ts';
import { ModalButton } from '#console/src/parts/forms/modal-button.tsx';
import { useAction } from '#console/src/parts/forms/action.ts';
import { Form } from '#console/src/parts/forms/form.tsx';
import { NumberField } from '#console/src/parts/forms/number-field.tsx';
import { countText } from '#console/src/parts/text/numbers.ts';
import { experimentsKey } from '#console/src/queries/experiments.ts';
import { useMay } from '#console/src/queries/identity.ts';

type Request = BodyOf<'POST /api/workflows/{id}/experiments'>;

/** Tries the draft or a version on past runs. */
export function StartExperiment({
  workflow,
  disabled = false,
  size = 'sm',
}: {
  workflow: Workflow;
  size?: 'sm' | 'compact-sm';
  disabled?: boolean;
}) {
  const mayRun = useMay('run_workflows');
  if (!mayRun) return null;
  return (
    <ModalButton
      size={size}
      leftSection={<IconFlask size={16} aria-hidden />}
      disabled={disabled}
      label={text.try}
      title={text.try}
    >
      {(close) => <StartForm workflow={workflow} onClose={close} />}
    </ModalButton>
  );
}

const DRAFT = 'draft';
const DEFAULT_RUNS = 50;

interface Given {
  candidate: string;
  last: number;
  status: 'success' | 'failed' | '';
  agents: boolean;
  budget: number | undefined;
}

const requestOf = ({ candidate, last, status, agents, budget }: Given): Request => ({
  candidate: candidate === DRAFT ? DRAFT : { version: Number(candidate) },
  runs: { last, status: status || undefined },
  ...(agents && { allow: ['agent'], budget_usd: budget }),
});

function StartForm({ workflow, onClose }: { workflow: Workflow; onClose: () => void }) {
  const navigate = useNavigate();
  const form = useForm<Given>({
    initialValues: {
      candidate: workflow.has_draft ? DRAFT : String(workflow.version),
      last: DEFAULT_RUNS,
      status: '',
      agents: false,
      budget: undefined,
    },
  });
  const given = form.values;
  const versions = Array.from({ length: workflow.version }, (_, at) => workflow.version - at);
  const start = useAction(() => api().startExperiment(workflow.id, requestOf(given)), {
    changes: [experimentsKey],
    quiet: true,
    onDone: ({ id }) => {
      onClose();
      void navigate({ to: '/experiments/$experimentId', params: { experimentId: id } });
    },
  });
  return (
    <Form action={start} submit={text.start} ready={given.last >= 1} onCancel={onClose}>
      <Text size="sm">{text.about}</Text>
      <Select
        label={text.candidate}
        data={[
          ...(workflow.has_draft ? [{ value: DRAFT, label: text.theDraft }] : []),
          ...versions.map((version) => ({ value: String(version), label: text.version(version) })),
        ]}
        allowDeselect={false}
        {...form.getInputProps('candidate')}
      />
      <NumberInput
        label={words.runs}
        description={text.runsAbout(countText(MAX_EXPERIMENT_RUNS))}
        min={1}
        max={MAX_EXPERIMENT_RUNS}
        allowDecimal={false}
        value={given.last}
        onChange={(last) => form.setFieldValue('last', Number(last))}
      />
      <Select
        label={words.status}
        data={[
          { value: '', label: text.endedStatuses },
          { value: 'success', label: text.success },
          { value: 'failed', label: text.failed },
        ]}
        allowDeselect={false}
        {...form.getInputProps('status')}
      />
      <Checkbox
        label={text.agents}
        description={text.agentsAbout}
        {...form.getInputProps('agents', { type: 'checkbox' })}
      />
      {given.agents && (
        <NumberField
          label={text.budget}
          description={text.budgetAbout}
          min={0}
          decimalScale={6}
          value={given.budget}
          onChange={(budget) => form.setFieldValue('budget', budget)}
        />
      )}
    </Form>
  );
}
