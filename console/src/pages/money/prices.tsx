import { Button, Collapse, Group, Modal, Stack, Table } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { Price } from '#client/index.ts';
import { api } from '#console/src/api.ts';
import { words } from '#console/src/messages/en/words.ts';
import { prices as text } from '#console/src/messages/en/prices.ts';
import { useAction } from '#console/src/parts/forms/action.ts';
import { ActionButton } from '#console/src/parts/forms/action-button.tsx';
import { UserText } from '#console/src/parts/text/user-text.tsx';
import { Loaded } from '#console/src/parts/loaded.tsx';
import { dollarsText } from '#console/src/parts/text/numbers.ts';
import { Section } from '#console/src/parts/page.tsx';
import { Row, RowTable } from '#console/src/parts/data/row-table.tsx';
import { Dimmed } from '#console/src/parts/text/dimmed.tsx';
import { useMay } from '#console/src/queries/identity.ts';
import { pricesKey, pricesQuery } from '#console/src/queries/workspace.ts';
import type { Tagged } from '#console/src/queries/tagged.ts';
import { priceTable } from '#shared/money/prices.ts';
import { PriceForm } from './price-form.tsx';

interface Prices extends Tagged {
  prices: Price[];
}

/** The model prices of the workspace that override the built-in table, and that table. */
export function ModelPrices() {
  const prices = useQuery(pricesQuery);
  const mayManage = useMay('manage_workspace');
  const [edited, setEdited] = useState<{ price: Price | undefined; list: Prices }>();
  return (
    <Section
      title={text.title}
      actions={
        mayManage && (
          <Button
            size="compact-sm"
            disabled={prices.data === undefined}
            onClick={() => prices.data && setEdited({ price: undefined, list: prices.data })}
          >
            {text.add}
          </Button>
        )
      }
    >
      <Loaded query={prices}>
        {(own) => (
          <>
            {own.prices.length === 0 ? (
              <Dimmed>{text.none}</Dimmed>
            ) : (
              <PriceTable
                label={text.own}
                prices={own.prices}
                list={own}
                {...(mayManage && { onEdit: (price: Price) => setEdited({ price, list: own }) })}
              />
            )}
            <Modal
              opened={edited !== undefined}
              onClose={() => setEdited(undefined)}
              title={edited?.price === undefined ? text.add : text.editTitle}
            >
              {edited !== undefined && (
                <PriceForm
                  record={edited.list}
                  edited={edited.price?.model}
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
        {builtIn ? text.hideBuiltIn : text.showBuiltIn}
      </Button>
      <Collapse expanded={builtIn} w="100%">
        {builtIn && (
          <Stack gap="xs">
            <Dimmed size="xs">{text.aboutBuiltIn(priceTable.date)}</Dimmed>
            <PriceTable label={text.builtIn} prices={builtInPrices()} />
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
    ...(price.cachedInputUsd === undefined
      ? {}
      : { cached_input_usd_per_million: price.cachedInputUsd }),
  }));
}

function PriceTable({
  label,
  prices,
  list,
  onEdit,
}: {
  label: string;
  prices: Price[];
  /** The list to edit. */
  list?: Prices;
  onEdit?: (price: Price) => void;
}) {
  return (
    <RowTable
      label={label}
      minWidth={380}
      columns={[
        words.model,
        { label: text.input, numbers: true },
        { label: text.output, numbers: true },
        { label: text.cached, numbers: true },
        ...(onEdit === undefined ? [] : [text.actions]),
      ]}
    >
      {prices.map((price) => (
        <Row key={price.model}>
          <UserText>{price.model}</UserText>
          <Table.Td className="numbers">{dollarsText(price.input_usd_per_million)}</Table.Td>
          <Table.Td className="numbers">{dollarsText(price.output_usd_per_million)}</Table.Td>
          <Table.Td className="numbers">
            {dollarsText(price.cached_input_usd_per_million ?? price.input_usd_per_million)}
          </Table.Td>
          {onEdit !== undefined && list !== undefined && (
            <Table.Td>
              <PriceActions price={price} list={list} onEdit={() => onEdit(price)} />
            </Table.Td>
          )}
        </Row>
      ))}
    </RowTable>
  );
}

function PriceActions({ price, list, onEdit }: { price: Price; list: Prices; onEdit: () => void }) {
  const remove = useAction(
    ({ prices, etag }: Prices) =>
      api().setPrices(
        { prices: prices.filter(({ model }) => model !== price.model) },
        { ifMatch: etag },
      ),
    { changes: [pricesKey], done: text.removed },
  );
  return (
    <Group gap={4} wrap="nowrap">
      <Button
        size="compact-xs"
        variant="default"
        onClick={onEdit}
        aria-label={text.editPrice(price.model)}
      >
        {words.edit}
      </Button>
      <ActionButton
        size="compact-xs"
        action={remove}
        input={list}
        ask={{ ...text.confirmRemove, values: { model: price.model } }}
        aria-label={text.removePrice(price.model)}
      >
        {words.remove}
      </ActionButton>
    </Group>
  );
}
