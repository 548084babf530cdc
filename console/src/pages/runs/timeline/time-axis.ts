import { durationText } from '#console/src/parts/text/duration.ts';
import type { Stretch, Timeline } from './timeline.ts';

/** Maps the times of a run to a line. Shares are from 0 to 1. */
export interface TimeAxis {
  /** The share of a time in ms since 1970. */
  shareOf: (at: number) => number;
  ticks: { share: number; label: string }[];
  /** Long periods without work, which are shortened. */
  breaks: { from: number; to: number; label: string }[];
}

/** The length of a shortened period, as a share of the total working time. */
const QUIET_SHARE = 0.15;
/** Only periods longer than this multiple of that length are shortened, because a broken axis is harder to read. */
const WORTH_BREAKING = 2;
const LONG_MS = 10_000;
const TICKS = 5;
/** Minimum distance of labels, so that they do not overlap. */
const LABEL_SHARE = 0.12;

/**
 * An axis that keeps the work of a run visible even if the run waited long for people: long periods without work are
 * shortened and marked. Ticks are at round times since the start of the run.
 */
export function axisOf({
  from,
  to,
  stretches,
}: Pick<Timeline, 'from' | 'to' | 'stretches'>): TimeAxis {
  const merged = quietMerged(stretches);
  const busy = merged.reduce((sum, { quiet, ms }) => sum + (quiet ? 0 : ms), 0);
  const most = busy * QUIET_SHARE;
  let shown = 0;
  const pieces = merged.map(({ from: at, ms, quiet }) => {
    const broken = quiet && busy > 0 && ms >= LONG_MS && ms > most * WORTH_BREAKING;
    const piece = { from: at, ms, broken, start: shown, length: broken ? most : ms };
    shown += piece.length;
    return piece;
  });
  const total = Math.max(shown, 1);
  const shareOf = (at: number): number => {
    const piece = pieces.findLast((each) => each.from <= at) ?? pieces[0];
    if (piece === undefined) return 0;
    const inside = piece.ms === 0 ? 0 : Math.min(1, Math.max(0, (at - piece.from) / piece.ms));
    return (piece.start + inside * piece.length) / total;
  };
  const breaks = pieces
    .filter(({ broken }) => broken)
    .map(({ start, length, ms }) => ({
      from: start / total,
      to: (start + length) / total,
      label: durationText(ms),
    }));
  const taken = breaks.map((each) => (each.from + each.to) / 2);
  const step = roundStep(total / TICKS);
  const ticks: TimeAxis['ticks'] = [];
  for (const piece of pieces.filter(({ broken }) => !broken)) {
    const first = Math.ceil((piece.from - from) / step) * step;
    for (let at = first; at <= Math.min(piece.from - from + piece.ms, to - from); at += step) {
      const share = shareOf(from + at);
      const room = taken.every((other) => Math.abs(other - share) >= LABEL_SHARE);
      const label = at === 0 ? '0' : durationText(at);
      // Late in a long run, times that are close together have the same text.
      const repeated = ticks.at(-1)?.label === label;
      if (!room || repeated || share > 1 - LABEL_SHARE / 2) continue;
      taken.push(share);
      ticks.push({ share, label });
    }
  }
  return { shareOf, ticks, breaks };
}

/** Merges adjacent periods without work, and likewise adjacent periods with work. */
function quietMerged(
  stretches: readonly Stretch[],
): { from: number; ms: number; quiet: boolean }[] {
  const merged: { from: number; ms: number; quiet: boolean }[] = [];
  for (const { part, from, to } of stretches) {
    const quiet = part === 'waiting' || part === 'idle';
    const last = merged.at(-1);
    if (last?.quiet === quiet) last.ms += to - from;
    else merged.push({ from, ms: to - from, quiet });
  }
  return merged;
}

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const steps = [
  ...[1, 2, 5, 10, 20, 50, 100, 200, 500],
  ...[1, 2, 5, 10, 15, 30].map((seconds) => seconds * SECOND),
  ...[1, 2, 5, 10, 15, 30].map((minutes) => minutes * MINUTE),
  ...[1, 2, 6, 12].map((hours) => hours * HOUR),
  ...[1, 2, 5, 10, 30].map((days) => days * DAY),
];

/** The smallest round step of at least `ms`. */
export const roundStep = (ms: number): number =>
  steps.find((step) => step >= ms) ?? Math.ceil(ms / (30 * DAY)) * 30 * DAY;
