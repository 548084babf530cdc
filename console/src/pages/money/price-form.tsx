import { NumberInput, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import type { Price } from '../../../../client/index.ts';
import { api } from '../../api.ts';
import { useAction } from '../../parts/forms/action.ts';
import { Form } from '../../parts/forms/form.tsx';
import { pricesKey } from '../../queries/prices.ts';

/** One price of the workspace. The whole list is saved, with `others` unchanged. */
export function PriceForm({
  price,
  others,
  onClose,
}: {
  price: Price | undefined;
  others: Price[];
  onClose: () => void;
}) {
  const [model, setModel] = useState(price?.model ?? '');
  const [input, setInput] = useState<number | string>(price?.input_usd_per_million ?? '');
  const [output, setOutput] = useState<number | string>(price?.output_usd_per_million ?? '');
  const save = useAction((prices: Price[]) => api().setPrices({ prices }), {
    changes: [pricesKey],
    done: 'Price saved. It applies to steps from now on',
    onDone: onClose,
    quiet: true,
  });
  const taken = others.some((each) => each.model === model.trim());
  const ready = model.trim() !== '' && !taken && input !== '' && output !== '';
  const send = (): void =>
    save.mutate([
      ...others,
      {
        model: model.trim(),
        input_usd_per_million: Number(input),
        output_usd_per_million: Number(output),
      },
    ]);
  const dollars = { min: 0, max: 10_000_000, decimalScale: 6, hideControls: true, required: true };
  return (
    <Form action={save} submit="Save price" onSubmit={send} onCancel={onClose} ready={ready}>
      <TextInput
        label="Model"
        description="Use the same name as in workflows: provider/model"
        value={model}
        onChange={(event) => setModel(event.currentTarget.value)}
        error={taken ? 'This model already has a price' : undefined}
        maxLength={200}
        required
        data-autofocus
      />
      <NumberInput
        label="Input price (USD per million tokens)"
        value={input}
        onChange={setInput}
        {...dollars}
      />
      <NumberInput
        label="Output price (USD per million tokens)"
        value={output}
        onChange={setOutput}
        {...dollars}
      />
      <Text size="xs" c="dimmed">
        Recorded costs do not change.
      </Text>
    </Form>
  );
}
