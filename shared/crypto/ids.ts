import { randomFillSync } from 'node:crypto';

/** One prefix per noun, so that an id shows its type. */
export const idPrefixes = {
  workspace: 'ws',
  workflow: 'wf',
  run: 'run',
  member: 'mem',
  budget: 'bud',
  apiKey: 'key',
  tool: 'tool',
  schedule: 'sch',
  template: 'tpl',
  audit: 'aud',
  feed: 'feed',
  source: 'src',
  entity: 'ent',
  change: 'chg',
  event: 'evt',
  dataKey: 'dkey',
  endpoint: 'end',
  outboundEvent: 'oevt',
  delivery: 'dlv',
  export: 'exp',
  request: 'req',
  job: 'job',
  inboundEvent: 'iev',
  eventTrigger: 'trg',
  connection: 'con',
  signIn: 'sgn',
  decideLink: 'lnk',
  slackMessage: 'slk',
  authorization: 'auth',
  oauthClient: 'client',
} as const;

const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';
const ID_TAIL = /^_[0-9a-hjkmnp-tv-z]{26}$/;

/** Generated in advance: a few random bytes cost as much as thousands. */
const drawn = Buffer.alloc(4_096);
let left = 0;

/** Random characters of the alphabet, five bits each. */
export function randomText(length: number): string {
  let text = '';
  for (let i = 0; i < length; i += 1) {
    if (left === 0) left = randomFillSync(drawn).length;
    left -= 1;
    text += ALPHABET.charAt(drawn.readUInt8(left) & 31);
    // Do not keep bytes that were used.
    drawn[left] = 0;
  }
  return text;
}

/**
 * A prefixed id: 10 characters of milliseconds, so that ids sort by creation time, then 80 random bits. Same layout and
 * alphabet as ULID, in lower case.
 */
export function newId(noun: keyof typeof idPrefixes): string {
  let time = Date.now();
  let head = '';
  for (let i = 0; i < 10; i += 1) {
    head = ALPHABET.charAt(time % 32) + head;
    time = Math.floor(time / 32);
  }
  return `${idPrefixes[noun]}_${head}${randomText(16)}`;
}

/** Whether a text has the form of such an id; it may still not exist. */
export const isIdOf = (noun: keyof typeof idPrefixes, text: string): boolean =>
  text.startsWith(`${idPrefixes[noun]}_`) && ID_TAIL.test(text.slice(-27));
