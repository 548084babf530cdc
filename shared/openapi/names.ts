const MAX_NAME = 64;

/**
 * A foreign name in the form of this service's tools: `getUser` and `get.user` become `get_user`. Empty if nothing is
 * left.
 */
export function nameHere(name: string, prefix = ''): string {
  const plain = name
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .replaceAll(/[^a-z0-9_-]+/g, '_')
    .replace(/^[_-]+/, '');
  if (!/[a-z0-9]/.test(plain)) return '';
  return (prefix + plain).replace(/^[^a-z]+/, '').slice(0, MAX_NAME);
}
