/**
 * A name as words of `a-z` and `0-9`: with `_`, `Répondre aux tickets` becomes `repondre_aux_tickets`. At most `atMost`
 * characters, and never empty.
 */
export function slugWith(separator: '_' | '-', name: string, atMost: number): string {
  const plain = name.normalize('NFKD').replaceAll(/\p{M}/gu, '').toLowerCase();
  const words = plain.match(/[a-z0-9]+/g) ?? [];
  const slug = words.join(separator).slice(0, atMost);
  return (slug.endsWith(separator) ? slug.slice(0, -1) : slug) || 'untitled';
}
