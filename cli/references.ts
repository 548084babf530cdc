import type { Client } from '#client/index.ts';
import { refusal } from './endings.ts';

/** How users refer to records of one kind. */
interface Naming<Item> {
  noun: string;
  /** Prefix of the IDs. A reference with this prefix counts as an ID. */
  prefix: string;
  list: (client: Client) => Promise<readonly Item[]>;
  /** By default its name. */
  names?: (item: Item) => readonly (string | null)[];
}

/** The only item with exactly this name. */
export function named<Item>(noun: string, reference: string, items: readonly Item[]): Item {
  const [one, ...others] = items;
  if (one === undefined) throw refusal(`No ${noun} has the id or name '${reference}'`);
  if (others.length > 0) throw refusal(`Several ${noun}s are named '${reference}': give an id`);
  return one;
}

/** A function that returns the reference if it is an ID, or else the ID of the only record with exactly this name. */
export const idOf =
  <Item extends { id: string; name?: string | null }>({
    noun,
    prefix,
    list,
    names = ({ name = null }) => [name],
  }: Naming<Item>) =>
  async (client: Client, reference: string): Promise<string> => {
    if (new RegExp(`^${prefix}_\\w+$`).test(reference)) return reference;
    const found = (await list(client)).filter((item) => names(item).includes(reference));
    return named(noun, reference, found).id;
  };

/** The id of a member, from their id or email. */
export const memberOf = idOf({
  noun: 'member',
  prefix: 'mem',
  list: (client) => client.listMembers(),
  names: ({ email }) => [email],
});
