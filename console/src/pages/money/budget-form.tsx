import { NativeSelect, NumberInput, Select, Switch, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useQuery } from '@tanstack/react-query';
import { useEffect } from 'react';
import type { BodyOf, Budget } from '#client/index.ts';
import { api } from '#console/src/api.ts';
import { budgetForm as text } from '#console/src/messages/en/budgets.ts';
import { words } from '#console/src/messages/en/words.ts';
import { editForm, useEdit } from '#console/src/parts/forms/edited.tsx';
import { Form } from '#console/src/parts/forms/form.tsx';
import { Dimmed } from '#console/src/parts/text/dimmed.tsx';
import { dollarsText } from '#console/src/parts/text/numbers.ts';
import { budgetsKey } from '#console/src/queries/budgets.ts';
import { workflowsQuery } from '#console/src/queries/workflows.ts';
import { breakdownQuery } from '#console/src/queries/workspace.ts';
import { spentBefore, suggestedEstimate } from './spent-before.ts';

type NewBudget = BodyOf<'POST /api/budgets'>;

const LEAST = 0.000001;
/** The longest period that the service adds up. */
const USAGE_DAYS = 90;

/** Creates or edits a budget. The scope and window of its counters cannot be changed. */
export const BudgetForm = editForm<Budget, { onClose: () => void }, undefined>(
  function BudgetFields({ editing, onClose }) {
    const budget = editing?.record;
    const fixed = budget !== undefined;
    const { data: workflows = [] } = useQuery(workflowsQuery);
    const form = useForm({
      initialValues: {
        name: budget?.name ?? '',
        window: budget?.window ?? 'month',
        workflowId: budget?.workflow_id ?? null,
        limit: budget?.limit_usd ?? '',
        holds: budget === undefined || budget.reservation_estimate_usd !== null,
        estimate: budget?.reservation_estimate_usd ?? '',
        oneStep: budget?.overrun === 'one_step',
        alerts: budget?.alerts ?? true,
      },
    });
    const { name, window, workflowId, limit, holds, estimate, oneStep, alerts } = form.values;
    const { data: usage } = useQuery(breakdownQuery(USAGE_DAYS));
    const days = usage?.by_day ?? [];
    const suggested = fixed ? undefined : suggestedEstimate(days);
    const { setFieldValue, isTouched } = form;
    const untouched = !isTouched('estimate');
    useEffect(() => {
      if (suggested !== undefined && untouched) setFieldValue('estimate', suggested);
      // oxlint-disable-next-line react/exhaustive-deps
    }, [suggested]);
    const fields: NewBudget = {
      name,
      limit_usd: Number(limit),
      reservation_estimate_usd: holds ? Number(estimate) : null,
      overrun: oneStep ? 'one_step' : 'none',
      alerts,
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
    const amount = { min: LEAST, decimalScale: 6, hideControls: true, required: true };
    return (
      <Form
        action={save}
        submit={budget === undefined ? text.create : words.saveChanges}
        onCancel={onClose}
        ready={
          name.trim() !== '' && Number(limit) >= LEAST && (!holds || Number(estimate) >= LEAST)
        }
      >
        <TextInput
          label={words.name}
          maxLength={200}
          required
          data-autofocus
          {...form.getInputProps('name')}
        />
        <NativeSelect
          label={text.window}
          description={text.aboutWindow}
          disabled={fixed}
          data={[
            { value: 'day', label: text.windows.day },
            { value: 'week', label: text.windows.week },
            { value: 'month', label: text.windows.month },
            { value: 'total', label: text.windows.total },
          ]}
          {...form.getInputProps('window')}
        />
        <Select
          label={words.workflow}
          placeholder={text.allWorkflows}
          disabled={fixed}
          searchable
          clearable
          clearButtonProps={{ 'aria-label': text.allWorkflows }}
          data={workflows.map((each) => ({ value: each.id, label: each.name }))}
          {...form.getInputProps('workflowId')}
        />
        {fixed && <Dimmed size="xs">{text.fixed}</Dimmed>}
        <NumberInput
          label={text.limit}
          description={
            workflowId === null && usage !== undefined
              ? text.spentBefore[window](dollarsText(spentBefore(days, window, Date.now())))
              : undefined
          }
          max={1_000_000_000}
          {...amount}
          {...form.getInputProps('limit')}
        />
        <Switch
          label={text.reserve}
          description={text.aboutReserve}
          {...form.getInputProps('holds', { type: 'checkbox' })}
        />
        {holds && (
          <>
            <NumberInput
              label={text.estimate}
              description={text.aboutEstimate}
              {...amount}
              {...form.getInputProps('estimate')}
            />
            <Switch
              label={text.overrun}
              description={text.aboutOverrun}
              {...form.getInputProps('oneStep', { type: 'checkbox' })}
            />
          </>
        )}
        <Switch
          label={text.alerts}
          description={text.aboutAlerts}
          {...form.getInputProps('alerts', { type: 'checkbox' })}
        />
      </Form>
    );
  },
);
