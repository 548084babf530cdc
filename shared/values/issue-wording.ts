/** What zod says of a value, in plain English: `must be at least 1`. It follows the name of the value. */
export function wording(message: string): string {
  if (message === 'Invalid input') return 'is invalid';
  const bound = boundWording(message);
  if (bound !== undefined) return bound;
  const format = /^Invalid (email address|URL|ISO datetime|ISO date|IPv4|IPv6)$/.exec(message);
  if (format !== null) return `is not a valid ${format[1] ?? ''}`;
  const options = /^Invalid option: expected one of (.+)$/.exec(message);
  if (options !== null) return `must be one of ${(options[1] ?? '').replaceAll('|', ', ')}`;
  const type = /^Invalid input: expected (.+), received (.+)$/.exec(message);
  if (type === null) return message.replace(/^[A-Z](?=[a-z])/, (letter) => letter.toLowerCase());
  if (type[1] === 'int' && type[2] === 'number') return 'must be a whole number';
  return type[2] === 'undefined'
    ? 'is required'
    : `must be ${article(nouns[type[1] ?? ''] ?? type[1] ?? '')}, not ${type[2]}`;
}

/**
 * Rewrites messages like `Too small: expected string to have >=1 characters` in plain English. Undefined for other
 * messages.
 */
function boundWording(message: string): string | undefined {
  const found =
    /^Too (?:small|big): expected \w+ to (?:have|be) ([<>])(=?)(-?[\d.e+]+)(?: (\w+))?$/.exec(
      message,
    );
  if (found === null) return undefined;
  const [, direction, inclusive, bound = '', unit] = found;
  const [from, to] = inclusive === '=' ? ['at least', 'at most'] : ['more than', 'less than'];
  const words = direction === '>' ? from : to;
  if (unit === undefined) return `must be ${words} ${bound}`;
  if (bound === '1' && words === 'at least') {
    return unit === 'items' ? 'must have an item' : 'must not be empty';
  }
  return `must have ${words} ${bound} ${bound === '1' ? unit.replace(/s$/, '') : unit}`;
}

const nouns: Record<string, string> = { int: 'whole number', record: 'object' };

const article = (noun: string): string => (/^[aeiou]/.test(noun) ? `an ${noun}` : `a ${noun}`);
