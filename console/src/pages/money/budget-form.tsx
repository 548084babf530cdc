import { NativeSelect, NumberInput, Select, Switch, Text, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { BodyOf, Budget } from '../../../../client/index.ts';
import { api } from '../../api.ts';
import { useAction } from '../../parts/forms/action.ts';
import { Form } from '../../parts/forms/form.tsx';
import { budgetsKey } from '../../queries/budgets.ts';
import { workflowsQuery } from '../../queries/workflows.ts';

type NewBudget = BodyOf<'POST /api/budgets'>;

const LEAST = 0.000001;

function useBudgetForm({ budget, onClose }: { budget: Budget | undefined; onClose: () => void }) {
  const [name, setName] = useState(budget?.name ?? '');
  const [limit, setLimit] = useState<number | string>(budget?.limit_usd ?? '');
  const [estimate, setEstimate] = useState<number | string>(budget?.reservation_estimate_usd ?? '');
  const [holds, setHolds] = useState(budget !== undefined && estimate !== '');
  const [window, setWindow] = useState<Budget['window']>(budget?.window ?? 'month');
  const [workflowId, setWorkflowId] = useState(budget?.workflow_id ?? null);

  const save = useAction(
    (body: NewBudget) =>
      budget === undefined ? api().createBudget(body) : api().updateBudget(budget.id, body),
    {
      changes: [budgetsKey],
      done: budget === undefined ? 'Budget created' : 'Budget saved',
      onDone: onClose,
      quiet: true,
    },
  );
  const ready =
    name.trim() !== '' && Number(limit) >= LEAST && (!holds || Number(estimate) >= LEAST);
  const send = (): void =>
    save.mutate({
      name,
      limit_usd: Number(limit),
      reservation_estimate_usd: holds ? Number(estimate) : null,
      window,
      scope: workflowId === null ? 'workspace' : 'workflow',
      workflow_id: workflowId,
    });
  return {
    save,
    send,
    ready,
    name,
    setName,
    window,
    setWindow,
    workflowId,
    setWorkflowId,
    limit,
    setLimit,
    holds,
    setHolds,
    estimate,
    setEstimate,
  };
}

type BudgetFormState = ReturnType<typeof useBudgetForm>;

/** Creates or edits a budget. The scope and window of its counters cannot be changed. */
export function BudgetForm({
  budget,
  onClose,
}: {
  budget: Budget | undefined;
  onClose: () => void;
}) {
  const state = useBudgetForm({ budget, onClose });
  const {
    save,
    send,
    ready,
    name,
    setName,
    window,
    setWindow,
    workflowId,
    setWorkflowId,
    limit,
    setLimit,
  } = state;

  return (
    <Form
      action={save}
      submit={budget === undefined ? 'Create budget' : 'Save changes'}
      onSubmit={send}
      onCancel={onClose}
      ready={ready}
    >
      <TextInput
        label="Name"
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
        maxLength={200}
        required
        data-autofocus
      />
      <WindowAndScope
        fixed={budget !== undefined}
        {...{ window, setWindow, workflowId, setWorkflowId }}
      />
      <NumberInput
        label="Limit (USD)"
        value={limit}
        onChange={setLimit}
        min={LEAST}
        max={1_000_000_000}
        decimalScale={6}
        hideControls
        required
      />
      <Reservation {...state} />
    </Form>
  );
}

/** Whether runs reserve an estimate, and how much. */
function Reservation({ holds, setHolds, estimate, setEstimate }: BudgetFormState) {
  return (
    <>
      <Switch
        label="Reserve an estimate for active runs"
        description="Each run reserves an estimate until it ends, so concurrent runs cannot exceed the limit together."
        checked={holds}
        onChange={(event) => setHolds(event.currentTarget.checked)}
      />
      {holds && (
        <NumberInput
          label="Estimate per run (USD)"
          value={estimate}
          onChange={setEstimate}
          min={LEAST}
          decimalScale={6}
          hideControls
          required
        />
      )}
    </>
  );
}

function WindowAndScope({
  fixed,
  window,
  setWindow,
  workflowId,
  setWorkflowId,
}: {
  fixed: boolean;
  window: Budget['window'];
  setWindow: (window: Budget['window']) => void;
  workflowId: string | null;
  setWorkflowId: (id: string | null) => void;
}) {
  const { data: workflows = [] } = useQuery(workflowsQuery);
  return (
    <>
      <NativeSelect
        label="Window"
        description="In UTC. Weeks start on Monday."
        value={window}
        onChange={(event) => setWindow(event.currentTarget.value as Budget['window'])}
        disabled={fixed}
        data={[
          { value: 'day', label: 'Day' },
          { value: 'week', label: 'Week' },
          { value: 'month', label: 'Month' },
          { value: 'total', label: 'Total (never resets)' },
        ]}
      />
      <Select
        label="Workflow"
        placeholder="All workflows"
        value={workflowId}
        onChange={setWorkflowId}
        disabled={fixed}
        searchable
        clearable
        clearButtonProps={{ 'aria-label': 'All workflows' }}
        data={workflows.map(({ id, name }) => ({ value: id, label: name }))}
      />
      {fixed && (
        <Text size="xs" c="dimmed">
          You cannot change the window or the workflow. Create another budget instead.
        </Text>
      )}
    </>
  );
}
