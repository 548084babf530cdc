import { NumberInput, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import type { Price } from '#client/index.ts';
import { api } from '#console/src/api.ts';
import { words } from '#console/src/messages/en/words.ts';
import { priceForm as text } from '#console/src/messages/en/prices.ts';
import { Edited, type Editing, useEdit } from '#console/src/parts/forms/edited.tsx';
import { Form } from '#console/src/parts/forms/form.tsx';
import { pricesKey } from '#console/src/queries/prices.ts';
import type { Tagged } from '#console/src/queries/tagged.ts';

/** The whole list is saved. After a reload it has the price as entered, and the others as someone else saved them. */
interface EnteredPrices {
  prices: Price[];
  entered?: Price;
}

/** Adds a price to the list of the workspace, or changes the one of `model`. */
export function PriceForm({
  list,
  model,
  onClose,
}: {
  list: EnteredPrices & Tagged;
  model: string | undefined;
  onClose: () => void;
}) {
  return (
    <Edited<EnteredPrices> record={list}>
      {(editing) => editing && <PriceFields editing={editing} edited={model} onClose={onClose} />}
    </Edited>
  );
}

interface FormProps {
  editing: Editing<EnteredPrices>;
  edited: string | undefined;
  onClose: () => void;
}

function usePriceForm({ editing, edited, onClose }: FormProps) {
  const { base, record } = editing;
  const price = record.entered ?? base.prices.find((each) => each.model === edited);
  const others = base.prices.filter((each) => each.model !== edited);
  const [model, setModel] = useState(price?.model ?? '');
  const [input, setInput] = useState<number | string>(price?.input_usd_per_million ?? '');
  const [output, setOutput] = useState<number | string>(price?.output_usd_per_million ?? '');
  const [cached, setCached] = useState<number | string>(price?.cached_input_usd_per_million ?? '');
  const entered = {
    model: model.trim(),
    input_usd_per_million: Number(input),
    output_usd_per_million: Number(output),
    ...(cached === '' ? {} : { cached_input_usd_per_million: Number(cached) }),
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
  const taken = others.some((each) => each.model === model.trim());
  const ready = model.trim() !== '' && !taken && input !== '' && output !== '';
  return {
    save,
    ready,
    taken,
    model,
    setModel,
    input,
    setInput,
    output,
    setOutput,
    cached,
    setCached,
  };
}

const dollars = { min: 0, max: 10_000_000, decimalScale: 6, hideControls: true, required: true };

function PriceFields(props: FormProps) {
  const { onClose } = props;
  const { save, ready, taken, model, setModel, input, setInput, output, setOutput, ...form } =
    usePriceForm(props);
  return (
    <Form
      action={save}
      submit={text.save}
      onSubmit={() => save.mutate(undefined)}
      onCancel={onClose}
      ready={ready}
    >
      <TextInput
        label={words.model}
        description={text.aboutModel}
        value={model}
        onChange={(event) => setModel(event.currentTarget.value)}
        error={taken ? text.taken : undefined}
        maxLength={200}
        required
        data-autofocus
      />
      <NumberInput label={text.input} value={input} onChange={setInput} {...dollars} />
      <NumberInput label={text.output} value={output} onChange={setOutput} {...dollars} />
      <NumberInput
        label={text.cached}
        description={text.aboutCached}
        value={form.cached}
        onChange={form.setCached}
        {...dollars}
        required={false}
      />
      <Text size="xs" c="dimmed">
        {text.about}
      </Text>
    </Form>
  );
}
