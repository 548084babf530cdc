import { Alert, Checkbox, NumberInput, Select, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useQuery } from '@tanstack/react-query';
import type { WorkflowLimits } from '#client/index.ts';
import { api } from '#console/src/api.ts';
import { limitsForm as text } from '#console/src/messages/en/workflows/limits.ts';
import { Message } from '#console/src/messages/message.tsx';
import { editForm, useEdit } from '#console/src/parts/forms/edited.tsx';
import { Form } from '#console/src/parts/forms/form.tsx';
import { Loaded } from '#console/src/parts/loaded.tsx';
import { Section } from '#console/src/parts/page.tsx';
import { useMay } from '#console/src/queries/identity.ts';
import { limitsKey, limitsQuery, queuesKey } from '#console/src/queries/limits.ts';
import { CancelFields, type CancelRow } from './cancel-fields.tsx';

/** The limits of a workflow, beside its versions. */
export function LimitsSection({ workflowId }: { workflowId: string }) {
  const query = useQuery(limitsQuery(workflowId));
  const mayEdit = useMay('create_edit_workflows');
  return (
    <Section title={text.title}>
      <Text size="sm">{text.about}</Text>
      <Loaded query={query}>
        {(limits) =>
          mayEdit ? (
            <LimitsForm key={workflowId} workflowId={workflowId} record={limits} />
          ) : (
            <LimitsText limits={limits} />
          )
        }
      </Loaded>
    </Section>
  );
}

function LimitsText({
  limits: { concurrency, rate, debounce, cancel_on },
}: {
  limits: WorkflowLimits;
}) {
  const none = [concurrency, rate, debounce].every((limit) => limit === null);
  if (none && cancel_on.length === 0) {
    return <Text size="sm">{text.noLimits}</Text>;
  }
  return (
    <Text size="sm">
      {concurrency !== null && text.flightIs(concurrency.limit)}{' '}
      {rate !== null && (
        <Message text={text.rateIs} values={{ limit: rate.limit, seconds: rate.per_seconds }} />
      )}{' '}
      {debounce !== null && (
        <Message text={text.debounceIs} values={{ seconds: debounce.seconds }} />
      )}{' '}
      {cancel_on.length > 0 && text.cancelledBy(cancel_on.map(({ event }) => event).join(', '))}
    </Text>
  );
}

type Mode = keyof typeof text.modes;
const modes = Object.entries(text.modes).map(([value, label]) => ({ value, label }));

const LimitsForm = editForm<WorkflowLimits, { workflowId: string }>(function LimitsFields({
  editing,
  workflowId,
}) {
  const { concurrency, rate, debounce, priority, cancel_on, warnings, last_failed_match } =
    editing.record;
  const form = useForm({
    initialValues: {
      limit: concurrency?.limit ?? ('' as number | string),
      key: concurrency?.key ?? '',
      mode: concurrency?.on_limit ?? ('queue' as Mode),
      hold: concurrency?.hold_while_paused ?? true,
      starts: rate?.limit ?? ('' as number | string),
      seconds: rate?.per_seconds ?? (60 as number | string),
      rateKey: rate?.key ?? '',
      debounce: debounce?.seconds ?? ('' as number | string),
      debounceMost: debounce?.max_seconds ?? ('' as number | string),
      debounceKey: debounce?.key ?? '',
      priority: priority ?? '',
      cancels: cancel_on.map(({ event, match }): CancelRow => ({ event, match: match ?? '' })),
    },
  });
  const { values } = form;
  const fields = {
    concurrency:
      values.limit === ''
        ? null
        : {
            limit: Number(values.limit),
            key: values.key || null,
            on_limit: values.mode,
            hold_while_paused: values.hold,
          },
    rate:
      values.starts === ''
        ? null
        : {
            limit: Number(values.starts),
            per_seconds: Number(values.seconds),
            key: values.rateKey || null,
          },
    debounce:
      values.debounce === ''
        ? null
        : {
            seconds: Number(values.debounce),
            max_seconds: values.debounceMost === '' ? null : Number(values.debounceMost),
            key: values.debounceKey || null,
          },
    priority: values.priority || null,
    cancel_on: values.cancels
      .filter(({ event, match }) => event.trim() !== '' || match.trim() !== '')
      .map(({ event, match }) => ({ event: event.trim(), match: match.trim() || null })),
  };
  const save = useEdit(editing, fields, (known) => api().setLimits(workflowId, fields, known), {
    changes: [limitsKey, queuesKey],
    done: text.saved,
    onDone: (saved) => editing.reload(saved, {}),
  });
  return (
    <Form action={save} submit={text.save}>
      {warnings.map((warning) => (
        <Alert key={warning} color="warning">
          {warning}
        </Alert>
      ))}
      <NumberInput
        label={text.concurrency}
        description={text.concurrencyAbout}
        min={1}
        max={10_000}
        allowDecimal={false}
        {...form.getInputProps('limit')}
      />
      {values.limit !== '' && (
        <>
          <TextInput label={text.key} description={text.keyAbout} {...form.getInputProps('key')} />
          <Select
            label={text.onLimit}
            data={modes}
            allowDeselect={false}
            {...form.getInputProps('mode')}
          />
          <Checkbox
            label={text.hold}
            description={text.holdAbout}
            {...form.getInputProps('hold', { type: 'checkbox' })}
          />
        </>
      )}
      <NumberInput
        label={text.rate}
        description={text.rateAbout}
        min={1}
        max={10_000}
        allowDecimal={false}
        {...form.getInputProps('starts')}
      />
      {values.starts !== '' && (
        <>
          <NumberInput
            label={text.seconds}
            min={1}
            max={86_400}
            allowDecimal={false}
            {...form.getInputProps('seconds')}
          />
          <TextInput label={text.rateKey} {...form.getInputProps('rateKey')} />
        </>
      )}
      <NumberInput
        label={text.debounce}
        description={text.debounceAbout}
        min={0.1}
        max={86_400}
        {...form.getInputProps('debounce')}
      />
      {values.debounce !== '' && (
        <>
          <NumberInput
            label={text.debounceMost}
            description={text.debounceMostAbout}
            min={0.1}
            max={86_400}
            {...form.getInputProps('debounceMost')}
          />
          <TextInput label={text.debounceKey} {...form.getInputProps('debounceKey')} />
        </>
      )}
      <TextInput
        label={text.priority}
        description={text.priorityAbout}
        {...form.getInputProps('priority')}
      />
      <CancelFields
        rows={values.cancels}
        failed={last_failed_match}
        onChange={(rows) => form.setFieldValue('cancels', rows)}
      />
    </Form>
  );
});
