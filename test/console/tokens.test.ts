import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { colours, frameColours, graphColours, kindColours } from '#console/src/tokens.ts';

const folder = join(import.meta.dirname, '../../console');
const TOKENS = 'src/tokens.ts';

/** Colors as CSS writes them, and the hues of the component library, which the tokens rename by their meaning. */
const hues = 'red|pink|grape|violet|indigo|blue|cyan|teal|green|lime|yellow|orange';
const named: readonly RegExp[] = [
  /#(?:[0-9a-f]{3,4}|[0-9a-f]{6}|[0-9a-f]{8})\b/i,
  /\b(?:rgba?|hsla?|oklch|oklab|hwb)\(/i,
  new RegExp(`--mantine-color-(?:${hues})-`),
  new RegExp(`(['"])(?:${hues})(?:\\.\\d)?\\1`),
];

function offences(text: string): string[] {
  return text.split('\n').filter((line) => named.some((pattern) => pattern.test(line)));
}

/** The relative luminance of a color such as `#16708f`. */
function luminance(colour: string): number {
  const [red, green, blue] = [1, 3, 5]
    .map((at) => Number.parseInt(colour.slice(at, at + 2), 16) / 255)
    .map((share) => (share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4));
  return 0.2126 * red! + 0.7152 * green! + 0.0722 * blue!;
}

function contrast(one: string, other: string): number {
  const [low, high] = [luminance(one), luminance(other)].toSorted((a, b) => a - b);
  return (high! + 0.05) / (low! + 0.05);
}

describe('the design tokens', () => {
  test('are the only place that names colors', () => {
    const styled = readdirSync(join(folder, 'src'), { recursive: true, encoding: 'utf8' })
      .map((path) => `src/${path}`)
      .filter((path) => /\.(?:css|tsx?)$/.test(path) && path !== TOKENS);
    expect(styled.length).toBeGreaterThan(200);
    const found = styled.flatMap((path) =>
      offences(readFileSync(join(folder, path), 'utf8')).map((line) => `${path}: ${line.trim()}`),
    );
    expect(found).toEqual([]);
    expect(offences(readFileSync(join(folder, TOKENS), 'utf8'))).not.toEqual([]);
    for (const line of ['color="red"', 'color: #16708f;', 'var(--mantine-color-teal-6)']) {
      expect(offences(line)).toEqual([line]);
    }
  });

  test('have enough contrast for text and controls in both schemes', () => {
    const { accent, gray, dark } = colours;
    const white = '#ffffff';
    const text: readonly (readonly [string, string])[] = [
      [gray[9], gray[1]],
      [gray[7], gray[1]],
      [dark[0], dark[5]],
      [dark[1], dark[6]],
      [accent[7], white],
      [accent[7], gray[0]],
      [accent[4], dark[7]],
    ];
    for (const [front, back] of text) expect(contrast(front, back)).toBeGreaterThanOrEqual(4.5);
    for (const ground of [white, dark[7], dark[8]]) {
      expect(contrast(accent[7], ground)).toBeGreaterThanOrEqual(3);
    }
  });

  test('have enough contrast for the lines of graphs, which no color of the library replaces', () => {
    for (const scheme of ['light', 'dark'] as const) {
      const { line, failed, ground } = graphColours[scheme];
      for (const front of [line, failed, ...Object.values(kindColours[scheme])]) {
        expect(contrast(front, ground)).toBeGreaterThanOrEqual(3);
      }
    }
    const css = readFileSync(join(folder, 'src/graph/graph.css'), 'utf8');
    for (const part of ['edge-stroke', 'connectionline-stroke', 'background-color']) {
      expect(css).toMatch(new RegExp(`--xy-${part}: var\\(--graph-`));
    }
    expect(css).toMatch(/\.graph-card \{[^}]*border: 1px solid var\(--graph-line\)/);
  });

  test('color the frame of the browser and the favicon', () => {
    const html = readFileSync(join(folder, 'index.html'), 'utf8');
    const frames = [...html.matchAll(/scheme: (\w+)\)" content="(#\w+)"/g)];
    expect(Object.fromEntries(frames.map(([, scheme, colour]) => [scheme, colour]))).toEqual(
      frameColours,
    );
    const icon = readFileSync(join(folder, 'src/favicon.svg'), 'utf8');
    const used = new Set([...icon.matchAll(/#\w+/g)].map(([colour]) => colour));
    expect([...used].filter((colour) => colour !== '#fff').toSorted()).toEqual(
      [colours.accent[3], colours.accent[7], colours.dark[9]].toSorted(),
    );
  });
});
