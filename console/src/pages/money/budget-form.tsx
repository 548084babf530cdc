import { NativeSelect, NumberInput, Select, Switch, Text, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { BodyOf, Budget } from '#client/index.ts';
import { api } from '#console/src/api.ts';
import { budgetForm as text } from '#console/src/messages/en/budgets.ts';
import { words } from '#console/src/messages/en/words.ts';
import { Edited, type Editing, useEdit } from '#console/src/parts/forms/edited.tsx';
import { Form } from '#console/src/parts/forms/form.tsx';
import { budgetsKey } from '#console/src/queries/budgets.ts';
import { workflowsQuery } from '#console/src/queries/workflows.ts';

type NewBudget = BodyOf<'POST /api/budgets'>;

const LEAST = 0.000001;

function useBudgetForm({ editing, onClose }: FormProps) {
  const budget = editing?.record;
  const [name, setName] = useState(budget?.name ?? '');
  const [limit, setLimit] = useState<number | string>(budget?.limit_usd ?? '');
  const [estimate, setEstimate] = useState<number | string>(budget?.reservation_estimate_usd ?? '');
  const [holds, setHolds] = useState(budget !== undefined && estimate !== '');
  const [oneStep, setOneStep] = useState(budget?.overrun === 'one_step');
  const [window, setWindow] = useState<Budget['window']>(budget?.window ?? 'month');
  const [workflowId, setWorkflowId] = useState(budget?.workflow_id ?? null);

  const fields: NewBudget = {
    name,
    limit_usd: Number(limit),
    reservation_estimate_usd: holds ? Number(estimate) : null,
    overrun: oneStep ? 'one_step' : 'none',
    window,
    scope: workflowId === null ? 'workspace' : 'workflow',
    workflow_id: workflowId,
  };
  const save = useEdit(
    editing,
    fields,
    (known) =>
      budget === undefined
        ? api().createBudget(fields)
        : api().updateBudget(budget.id, fields, known),
    {
      changes: [budgetsKey],
      done: budget === undefined ? text.created : text.saved,
      onDone: onClose,
    },
  );
  const ready =
    name.trim() !== '' && Number(limit) >= LEAST && (!holds || Number(estimate) >= LEAST);
  return {
    save,
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
    oneStep,
    setOneStep,
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
  return (
    <Edited<Budget> record={budget}>
      {(editing) => <BudgetFields editing={editing} onClose={onClose} />}
    </Edited>
  );
}

interface FormProps {
  editing: Editing<Budget> | undefined;
  onClose: () => void;
}

function BudgetFields({ editing, onClose }: FormProps) {
  const budget = editing?.record;
  const state = useBudgetForm({ editing, onClose });
  const {
    save,
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
      submit={budget === undefined ? text.create : words.saveChanges}
      onSubmit={() => save.mutate(undefined)}
      onCancel={onClose}
      ready={ready}
    >
      <TextInput
        label={words.name}
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
        label={text.limit}
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
function Reservation(state: BudgetFormState) {
  const { holds, setHolds, estimate, setEstimate, oneStep, setOneStep } = state;
  return (
    <>
      <Switch
        label={text.reserve}
        description={text.aboutReserve}
        checked={holds}
        onChange={(event) => setHolds(event.currentTarget.checked)}
      />
      {holds && (
        <NumberInput
          label={text.estimate}
          value={estimate}
          onChange={setEstimate}
          min={LEAST}
          decimalScale={6}
          hideControls
          required
        />
      )}
      {holds && (
        <Switch
          label={text.overrun}
          description={text.aboutOverrun}
          checked={oneStep}
          onChange={(event) => setOneStep(event.currentTarget.checked)}
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
        label={text.window}
        description={text.aboutWindow}
        value={window}
        onChange={(event) => setWindow(event.currentTarget.value as Budget['window'])}
        disabled={fixed}
        data={[
          { value: 'day', label: text.windows.day },
          { value: 'week', label: text.windows.week },
          { value: 'month', label: text.windows.month },
          { value: 'total', label: text.windows.total },
        ]}
      />
      <Select
        label={words.workflow}
        placeholder={text.allWorkflows}
        value={workflowId}
        onChange={setWorkflowId}
        disabled={fixed}
        searchable
        clearable
        clearButtonProps={{ 'aria-label': text.allWorkflows }}
        data={workflows.map(({ id, name }) => ({ value: id, label: name }))}
      />
      {fixed && (
        <Text size="xs" c="dimmed">
          {text.fixed}
        </Text>
      )}
    </>
  );
}
