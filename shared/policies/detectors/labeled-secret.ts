import { type Detector, valuesOf } from './span.ts';

// Values after a label. All repetitions before a value are bounded, so that a text of labels takes linear time.
const KEY_LABEL =
  '(?:(?:api|access|private|secret|signing|encryption|account|master|auth)[_ -]?key|token|secret|credentials?)';
const PASSWORD_LABEL = '(?:passw(?:or)?d|pwd|passphrase|passcode)';
/** `: `, ` = `, `" => ` or ` is `. */
const SET = '["\']?[ \\t]{0,3}(?::|=>?)[ \\t]{0,3}';
const IS = '[ \\t]{1,3}(?:is|was)(?: now)?:?[ \\t]{1,3}';
const BARE = '[A-Za-z0-9_\\-./+=~!@#$%^&*?]';

const KEYS = new RegExp(`${KEY_LABEL}(?:${SET}|${IS})["']?(?:Bearer )?(${BARE}{8,})`, 'gi');
const PASSWORDS = new RegExp(`${PASSWORD_LABEL}${SET}(${BARE}{4,})`, 'gi');
const QUOTED_PASSWORDS = new RegExp(
  `${PASSWORD_LABEL}(?:${SET}|${IS})["']([^"'\\r\\n]{4,200})(?=["'])`,
  'gi',
);
const STATED_PASSWORDS = new RegExp(`${PASSWORD_LABEL}${IS}(${BARE}{6,})`, 'gi');
/** A single word, with nothing after it that would make it part of a sentence. */
const WORD_PASSWORDS = new RegExp(
  `${PASSWORD_LABEL}${SET}([A-Za-z]{6,})(?=[ \\t]{0,3}(?:$|[\\r\\n,;)}]))`,
  'gi',
);

/** Words that say something about a secret, or stand where one belongs. */
const ABOUT = new Set(
  (
    'a an and any are boolean case change changed confirm default empty encrypted enter example expired false ' +
    'field forgot hashed here hidden incorrect input integer invalid is long masked match matches minimum missing must ' +
    'my name needed never new none not null number object old optional or pass passcode passphrase passwd password ' +
    'passwords placeholder please provided pwd redacted removed repeat required reset secret sensitive set short show ' +
    'strength string strong text the to token true type undefined unknown unset updated user username valid ' +
    'value weak with wrong your'
  ).split(' '),
);

/**
 * Finds values that a text labels as a key, token, secret or password. A key has letters and digits. A password can be
 * anything that does not read as a remark about it.
 */
export const findLabeledSecrets: Detector = (text) => [
  ...valuesOf(text, KEYS, isMixed),
  ...valuesOf(text, PASSWORDS, isPassword),
  ...valuesOf(text, QUOTED_PASSWORDS, isQuotedPassword),
  ...valuesOf(text, STATED_PASSWORDS, (value) => isMixed(value) || hasSymbol(value)),
  ...valuesOf(text, WORD_PASSWORDS, (value) => !ABOUT.has(value.toLowerCase())),
];

/** Letters and digits, but not a date or a time. */
const isMixed = (value: string): boolean =>
  /\d/.test(value) && /[a-z]/i.test(value) && !/^\d{4}-\d\d-\d\d(?:T|$)/.test(value);

/** A symbol between other characters, as no word has. */
const hasSymbol = (value: string): boolean => /[a-z0-9][!@#%^&*~+=$][a-z0-9]/i.test(value);

function isPassword(value: string): boolean {
  if (isPlaceholder(value) || /^\d{4}-\d\d-\d\d/.test(value)) return false;
  if (/^\d{4,}[.!?]?$/.test(value) || (value.length >= 6 && isMixed(value))) return true;
  if (hasSymbol(value)) return true;
  // Words joined by hyphens, such as those of a generated passphrase.
  const words = value.split('-');
  return words.length > 2 && words.every((word) => /^[a-z]{2,}$/i.test(word)) && !isRemark(words);
}

const isQuotedPassword = (value: string): boolean =>
  !isPlaceholder(value) && !isRemark(value.split(/[^a-z]+/i));

const isRemark = (words: readonly string[]): boolean =>
  words.some((word) => ABOUT.has(word.toLowerCase()));

/** A reference to a value, such as `$PASSWORD`, `{secret}`, `process.env.X`, or signs that hide one. */
const isPlaceholder = (value: string): boolean =>
  /^(?:[[{<*]|\$[A-Z_{(]|[a-z_$][\w$]*(?:\.[a-z_$][\w$]*)+$)/i.test(value) ||
  /^(.)\1*$/.test(value);
