import type { Client } from '#client/index.ts';
import { refusal } from './endings.ts';

/** How users refer to objects of one kind. */
interface Naming<Item> {
  noun: string;
  /** Prefix of the IDs. A reference with this prefix counts as an ID. */
  prefix: string;
  list: () => Promise<readonly Item[]>;
  names: (item: Item) => readonly (string | null)[];
}

/** Returns the reference if it is an ID, or else the ID of the only item with exactly this name. */
export async function idOf<Item extends { id: string }>(
  reference: string,
  { noun, prefix, list, names }: Naming<Item>,
): Promise<string> {
  if (new RegExp(`^${prefix}_\\w+$`).test(reference)) return reference;
  const found = (await list()).filter((item) => names(item).includes(reference));
  const [one] = found;
  if (one === undefined) throw refusal(`No ${noun} has the id or name '${reference}'`);
  if (found.length > 1) throw refusal(`Several ${noun}s are named '${reference}': give an id`);
  return one.id;
}

/** The id of a member, from their id or email. */
export const memberOf = (client: Client, reference: string): Promise<string> =>
  idOf(reference, {
    noun: 'member',
    prefix: 'mem',
    list: () => client.listMembers(),
    names: ({ email }) => [email],
  });
