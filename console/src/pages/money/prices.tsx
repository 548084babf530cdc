import { Button, Collapse, Group, Modal, Stack, Table, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { Price } from '../../../../client/index.ts';
import { api } from '../../api.ts';
import { useAction } from '../../parts/forms/action.ts';
import { confirm } from '../../parts/forms/confirm.tsx';
import { UserText } from '../../parts/text/user-text.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { dollarsText } from '../../parts/text/numbers.ts';
import { Section } from '../../parts/page.tsx';
import { RowTable } from '../../parts/data/row-table.tsx';
import { useMay } from '../../queries/identity.ts';
import { pricesKey, pricesQuery } from '../../queries/prices.ts';
import { priceTable } from '../../../../shared/prices.ts';
import { PriceForm } from './price-form.tsx';

/** The model prices of the workspace that override the built-in table, and that table. */
export function Prices() {
  const prices = useQuery(pricesQuery);
  const mayManage = useMay('manage_workspace');
  const [edited, setEdited] = useState<{ price: Price | undefined }>();
  return (
    <Section
      title="Model prices"
      actions={
        mayManage && (
          <Button size="compact-sm" onClick={() => setEdited({ price: undefined })}>
            Add price{' '}
          </Button>
        )
      }
    >
      <Loaded query={prices}>
        {(own) => (
          <>
            {own.prices.length === 0 ? (
              <Text size="sm" c="dimmed">
                No custom prices. Built-in prices apply.
              </Text>
            ) : (
              <PriceTable
                label="Workspace prices"
                prices={own.prices}
                {...(mayManage && { onEdit: (price: Price) => setEdited({ price }) })}
              />
            )}
            <Modal
              opened={edited !== undefined}
              onClose={() => setEdited(undefined)}
              title={edited?.price === undefined ? 'Add price' : 'Edit price'}
            >
              {edited !== undefined && (
                <PriceForm
                  price={edited.price}
                  others={own.prices.filter((each) => each !== edited.price)}
                  onClose={() => setEdited(undefined)}
                />
              )}
            </Modal>
          </>
        )}
      </Loaded>
      <BuiltInPrices />
    </Section>
  );
}

function BuiltInPrices() {
  const [builtIn, setBuiltIn] = useState(false);
  return (
    <Stack gap="xs" align="flex-start">
      <Button
        variant="subtle"
        size="compact-sm"
        aria-expanded={builtIn}
        onClick={() => setBuiltIn(!builtIn)}
      >
        {builtIn ? 'Hide built-in prices' : 'Show built-in prices'}
      </Button>
      <Collapse expanded={builtIn} w="100%">
        {builtIn && (
          <Stack gap="xs">
            <Text size="xs" c="dimmed">
              List prices as of {priceTable.date}. Custom prices override them.
            </Text>
            <PriceTable label="Built-in prices" prices={builtInPrices()} />
          </Stack>
        )}
      </Collapse>
    </Stack>
  );
}

function builtInPrices(): Price[] {
  return Object.entries(priceTable.models).map(([model, price]) => ({
    model,
    input_usd_per_million: price.inputUsd,
    output_usd_per_million: price.outputUsd,
  }));
}

function PriceTable({
  label,
  prices,
  onEdit,
}: {
  label: string;
  prices: Price[];
  onEdit?: (price: Price) => void;
}) {
  return (
    <RowTable
      label={label}
      minWidth={380}
      columns={[
        'Model',
        { label: 'Input, per million', numbers: true },
        { label: 'Output, per million', numbers: true },
        ...(onEdit === undefined ? [] : ['Actions']),
      ]}
    >
      {prices.map((price) => (
        <Table.Tr key={price.model}>
          <Table.Td>
            <UserText>{price.model}</UserText>
          </Table.Td>
          <Table.Td className="numbers">{dollarsText(price.input_usd_per_million)}</Table.Td>
          <Table.Td className="numbers">{dollarsText(price.output_usd_per_million)}</Table.Td>
          {onEdit !== undefined && (
            <Table.Td>
              <PriceActions price={price} all={prices} onEdit={() => onEdit(price)} />
            </Table.Td>
          )}
        </Table.Tr>
      ))}
    </RowTable>
  );
}

function PriceActions({ price, all, onEdit }: { price: Price; all: Price[]; onEdit: () => void }) {
  const remove = useAction(
    (model: string) => api().setPrices({ prices: all.filter((each) => each.model !== model) }),
    { changes: [pricesKey], done: 'Price removed' },
  );
  const ask = (): void =>
    confirm({
      title: 'Remove this price?',
      consequence: (
        <>
          Steps of <UserText>{price.model}</UserText> will use the built-in price, or have an
          unknown cost if there is none. Recorded costs do not change.
        </>
      ),
      confirmLabel: 'Remove price',
      onConfirm: () => remove.mutate(price.model),
    });
  return (
    <Group gap={4} wrap="nowrap">
      <Button
        size="compact-xs"
        variant="default"
        onClick={onEdit}
        aria-label={`Edit price of ${price.model}`}
      >
        Edit
      </Button>
      <Button
        size="compact-xs"
        variant="light"
        color="red"
        onClick={ask}
        loading={remove.isPending}
        aria-label={`Remove price of ${price.model}`}
      >
        Remove
      </Button>
    </Group>
  );
}
