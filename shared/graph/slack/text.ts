import type { JsonObject } from '#shared/json.ts';
import { unixSeconds } from '#shared/time.ts';
import { inChat } from '#shared/values/markup.ts';

/** The most characters of one section, as Slack counts them: escaped. */
const MAX_SECTION = 2_900;

/** A part of a message or a modal, in the form of Block Kit. */
export type Block = JsonObject;

/** What is left of a text where not all of it fits. */
const CUT = '… (cut)';

/** Controls that hide or reorder what follows them. */
const CONTROLS = /[\p{Cc}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

/**
 * A text of someone else as Slack needs it: escaped, so that it pings no one and is no link, and cut to at most `most`
 * characters, after a whole one.
 */
export function slackText(text: string, most: number): string {
  const clean = text
    // Each character has at least one.
    .slice(0, most + 1)
    .toWellFormed()
    .replaceAll('\r\n', '\n')
    .replaceAll(CONTROLS, (control) => (control === '\n' || control === '\t' ? control : ' '));
  const escaped = inChat(clean);
  if (escaped.length <= most && text.length <= most) return escaped;
  let kept = '';
  for (const character of clean) {
    const next = inChat(character);
    if (kept.length + next.length > most - CUT.length) break;
    kept += next;
  }
  return kept + CUT;
}

/** A text that Slack shows as it is. In `mrkdwn`, `*` and `_` would have a meaning. */
export const plain = (text: string, most = MAX_SECTION): JsonObject => ({
  type: 'plain_text',
  text: slackText(text === '' ? ' ' : text, most),
  emoji: false,
});

export const section = (text: string, most?: number): Block => ({
  type: 'section',
  text: plain(text, most),
});

/** A link of this service, with a label that has no markup. */
export const link = (url: string, label: string): string => `<${inChat(url)}|${inChat(label)}>`;

/** A time in the zone of the person who reads it. */
export const timeText = (time: string): string => {
  return `<!date^${unixSeconds(time)}^{date_short_pretty} {time}|${time.slice(0, 16).replace('T', ' ')} UTC>`;
};

/** Smaller text. `parts` that are objects are plain texts; others are markup of this service. */
export const context = (...parts: (string | JsonObject)[]): Block => ({
  type: 'context',
  elements: parts.map((part) => (typeof part === 'string' ? { type: 'mrkdwn', text: part } : part)),
});

/** Lines in as few sections as fit, and whether some were left out. */
export function sectionsOf(
  lines: readonly string[],
  most: number,
): { blocks: Block[]; left: number } {
  const texts: string[] = [];
  for (const [at, line] of lines.entries()) {
    // The escaped text is what counts, and at most five times as long.
    const next = slackText(line, MAX_SECTION);
    const last = texts.at(-1);
    if (last !== undefined && last.length + next.length + 1 <= MAX_SECTION) {
      texts[texts.length - 1] = `${last}\n${next}`;
    } else if (texts.length < most) {
      texts.push(next);
    } else {
      return { blocks: texts.map(escapedSection), left: lines.length - at };
    }
  }
  return { blocks: texts.map(escapedSection), left: 0 };
}

const escapedSection = (text: string): Block => ({
  type: 'section',
  text: { type: 'plain_text', text, emoji: false },
});
