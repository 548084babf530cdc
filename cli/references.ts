import { refusal } from './endings.ts';

/** How users refer to objects of one kind. */
interface Naming<Item> {
  noun: string;
  /** What ids of the noun begin with; whatever does is taken for one. */
  prefix: string;
  list: () => Promise<readonly Item[]>;
  names: (item: Item) => readonly (string | null)[];
}

/** The id that a reference is, or else the id of the one thing with exactly this name. */
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
