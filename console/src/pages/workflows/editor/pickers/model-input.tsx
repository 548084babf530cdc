import { Autocomplete, Group, TagsInput, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { priceOf, priceTable } from '#shared/money/prices.ts';
import { modelPicker as texts } from '#console/src/messages/en/workflows/node-fields.ts';
import { Tag } from '#console/src/parts/tag.tsx';
import { dollarsText } from '#console/src/parts/text/numbers.ts';
import { Dimmed } from '#console/src/parts/text/dimmed.tsx';
import { policiesQuery } from '#console/src/queries/policies.ts';
import { pricesQuery } from '#console/src/queries/workspace.ts';

interface Common {
  label: string;
  description: string | undefined;
  error: string | undefined;
}

interface ModelFacts {
  /** What a million tokens cost; undefined if that is not known. */
  price: string | undefined;
  /** Whether the policies let agents use it. */
  allowed: boolean;
}

/** The model of an agent: one with a price, or any other text. */
export function ModelInput({
  common,
  value,
  onText,
}: {
  common: Common;
  value: string;
  onText: (text: string) => void;
}) {
  const { models, factsOf } = useModels();
  return (
    <>
      <Autocomplete
        {...common}
        data={models}
        value={value}
        onChange={onText}
        renderOption={({ option }) => (
          <ModelOption model={option.value} {...factsOf(option.value)} />
        )}
      />
      {value !== '' && <ModelNote {...factsOf(value)} />}
    </>
  );
}

/** Several models, in their order. */
export function ModelsInput({
  common,
  value,
  onChange,
}: {
  common: Common;
  value: string[];
  onChange: (models: string[]) => void;
}) {
  const { models, factsOf } = useModels();
  return (
    <TagsInput
      {...common}
      data={models}
      value={value}
      onChange={onChange}
      acceptValueOnBlur
      renderOption={({ option }) => <ModelOption model={option.value} {...factsOf(option.value)} />}
    />
  );
}

const NO_PRICES: readonly never[] = [];

/** The models that have a price, those that policies allow first, and what is known about any model. */
function useModels() {
  const own = useQuery(pricesQuery).data?.prices ?? NO_PRICES;
  const allowlist = useQuery(policiesQuery).data?.model_allowlist ?? null;
  return useMemo(() => {
    const overrides = Object.fromEntries(
      own.map((price) => [
        price.model,
        { inputUsd: price.input_usd_per_million, outputUsd: price.output_usd_per_million },
      ]),
    );
    const factsOf = (model: string): ModelFacts => {
      const price = priceOf(model, overrides);
      return {
        price:
          model === 'mock'
            ? texts.mock
            : price && texts.price(dollarsText(price.inputUsd), dollarsText(price.outputUsd)),
        allowed: allowlist === null || allowlist.includes(model),
      };
    };
    const names = [
      ...(allowlist ?? []),
      ...Object.keys(overrides),
      ...Object.keys(priceTable.models).toSorted(),
      'mock',
    ];
    const models = [...new Set(names)];
    return {
      models: [
        ...models.filter((model) => factsOf(model).allowed),
        ...models.filter((model) => !factsOf(model).allowed),
      ],
      factsOf,
    };
  }, [own, allowlist]);
}

const ModelOption = ({ model, price, allowed }: ModelFacts & { model: string }) => (
  <Group gap="xs" justify="space-between" wrap="nowrap" w="100%">
    <div>
      <Text size="sm">{model}</Text>
      <Dimmed size="xs">{price ?? texts.noPrice}</Dimmed>
    </div>
    {!allowed && <Tag color="warning">{texts.notAllowed}</Tag>}
  </Group>
);

/** What is known about the entered model. */
const ModelNote = ({ price, allowed }: ModelFacts) => (
  <Text size="xs" c={allowed ? 'dimmed' : 'var(--mantine-color-error)'} mt={4}>
    {allowed ? (price ?? texts.noPrice) : texts.refused}
  </Text>
);
