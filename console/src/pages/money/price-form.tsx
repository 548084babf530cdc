import { NumberInput, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import type { Price } from '#client/index.ts';
import { api } from '#console/src/api.ts';
import { words } from '#console/src/messages/en/words.ts';
import { priceForm as text } from '#console/src/messages/en/prices.ts';
import { editForm, useEdit } from '#console/src/parts/forms/edited.tsx';
import { Form } from '#console/src/parts/forms/form.tsx';
import { Dimmed } from '#console/src/parts/text/dimmed.tsx';
import { pricesKey } from '#console/src/queries/workspace.ts';

/** The whole list is saved. After a reload, it has the price as entered, and the others as someone else saved them. */
interface EnteredPrices {
  prices: Price[];
  entered?: Price;
}

const dollars = { min: 0, max: 10_000_000, decimalScale: 6, hideControls: true, required: true };

/** Adds a price to the workspace's list, or changes the price of the model `edited`. */
export const PriceForm = editForm<
  EnteredPrices,
  { edited: string | undefined; onClose: () => void }
>(function PriceFields({ editing, edited, onClose }) {
  const { base, record } = editing;
  const price = record.entered ?? base.prices.find((each) => each.model === edited);
  const others = base.prices.filter((each) => each.model !== edited);
  const form = useForm({
    initialValues: {
      model: price?.model ?? '',
      input: price?.input_usd_per_million ?? '',
      output: price?.output_usd_per_million ?? '',
      cached: price?.cached_input_usd_per_million ?? '',
    },
  });
  const { input, output, cached } = form.values;
  const model = form.values.model.trim();
  const entered = {
    model,
    input_usd_per_million: Number(input),
    output_usd_per_million: Number(output),
    cached_input_usd_per_million: cached === '' ? undefined : Number(cached),
  };
  const save = useEdit(
    editing,
    { entered },
    (known) => api().setPrices({ prices: [...others, entered] }, known),
    {
      changes: [pricesKey],
      done: text.saved,
      onDone: onClose,
    },
  );
  const taken = others.some((each) => each.model === model);
  return (
    <Form
      action={save}
      submit={text.save}
      onCancel={onClose}
      ready={model !== '' && !taken && input !== '' && output !== ''}
    >
      <TextInput
        label={words.model}
        description={text.aboutModel}
        maxLength={200}
        required
        data-autofocus
        {...form.getInputProps('model')}
        error={taken ? text.taken : undefined}
      />
      <NumberInput label={text.input} {...dollars} {...form.getInputProps('input')} />
      <NumberInput label={text.output} {...dollars} {...form.getInputProps('output')} />
      <NumberInput
        label={text.cached}
        description={text.aboutCached}
        {...dollars}
        required={false}
        {...form.getInputProps('cached')}
      />
      <Dimmed size="xs">{text.about}</Dimmed>
    </Form>
  );
});
