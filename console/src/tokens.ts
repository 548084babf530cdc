import { type CSSVariablesResolver, DEFAULT_THEME, type MantineColorsTuple } from '@mantine/core';

/**
 * The design tokens of the console: colors, sizes and spacing. No other file contains a color: styles use the variables
 * of these tokens, and components their names. There are ten shades of each, from light to dark.
 */

const accent: MantineColorsTuple = [
  '#e8f4f8',
  '#d2e7ee',
  '#a5cfde',
  '#74b5cb',
  '#4f9fbb',
  '#378fae',
  '#257f9f',
  '#16708f',
  '#0c5871',
  '#064358',
];

const gray: MantineColorsTuple = [
  '#f6f8f9',
  '#eef1f3',
  '#e2e7ea',
  '#d6dce0',
  '#c2cad1',
  '#a3aeb7',
  '#7a8691',
  '#47545e',
  '#37424b',
  '#1d252c',
];

/** Text, borders and surfaces of the dark scheme: 0 is text, 4 borders, 7 the page. */
const dark: MantineColorsTuple = [
  '#d3d9de',
  '#b1bac2',
  '#8893a0',
  '#636f7b',
  '#3b4650',
  '#303942',
  '#242c34',
  '#161b21',
  '#11151a',
  '#0b0e12',
];

const { red, orange, yellow, teal, blue, grape } = DEFAULT_THEME.colors;

/**
 * The colors by their meaning. `caution` is for what people ended or refused, `trial` for what has no outside effects.
 */
export const colours = {
  accent,
  gray,
  dark,
  danger: red,
  caution: orange,
  warning: yellow,
  success: teal,
  info: blue,
  trial: grape,
};

/** Edges, borders of nodes and handles of graphs, and what is behind them: 3 to 1 or more. */
export const graphColours = {
  light: { line: gray[6], failed: red[8], ground: '#ffffff' },
  dark: { line: dark[2], failed: red[5], ground: dark[7] },
};

/**
 * The colors of the kinds of nodes, on cards and in miniatures: what asks models, what acts, what decides and repeats, and
 * what waits. 3 to 1 or more on the ground of graphs.
 */
export const kindColours = {
  light: {
    agent: accent[7],
    tool: blue[7],
    code: blue[7],
    condition: grape[7],
    loop: grape[7],
    map: grape[7],
    workflow: teal[8],
    human_gate: '#b86200',
    wait: '#b86200',
    merge: gray[6],
  },
  dark: {
    agent: accent[4],
    tool: blue[4],
    code: blue[4],
    condition: grape[4],
    loop: grape[4],
    map: grape[4],
    workflow: teal[4],
    human_gate: yellow[5],
    wait: yellow[5],
    merge: dark[2],
  },
} as const;

const kindVariables = (of: Record<string, string>): Record<string, string> =>
  Object.fromEntries(Object.entries(of).map(([kind, colour]) => [`--kind-${kind}`, colour]));

/** The color of the browser's own frame around the page, which is also in index.html. */
export const frameColours = { light: gray[0], dark: dark[8] };

/** A few text sizes: captions and notes of tables, text, large text, figures. */
export const fontSizes = {
  xs: '0.75rem',
  sm: '0.875rem',
  md: '0.9375rem',
  lg: '1.0625rem',
  xl: '1.25rem',
};

/** Text, names of fields and buttons, headings. */
export const fontWeights = { regular: '450', medium: '500', bold: '600' };

/** The text of tables, where `fontSizes.sm` is too large. */
const tableFontSize = '0.8125rem';

export const headingSizes = {
  h1: { fontSize: '1.625rem', lineHeight: '1.3' },
  h2: { fontSize: '1.5rem', lineHeight: '1.3' },
  h3: { fontSize: '1.375rem', lineHeight: '1.35' },
  h4: { fontSize: '1.125rem', lineHeight: '1.4' },
  h5: { fontSize: '1rem', lineHeight: '1.45' },
  h6: { fontSize: '0.875rem', lineHeight: '1.5' },
};

export const spacing = {
  xs: '0.5rem',
  sm: '0.75rem',
  md: '1rem',
  lg: '1.25rem',
  xl: '2rem',
};

export const radius = { xs: '2px', sm: '4px', md: '6px', lg: '10px', xl: '16px' };

/** In pixels. */
export const headerHeight = 56;
export const connectionBarHeight = 32;
export const sidebarWidth = 208;

/** The space above and below the text of a table cell. */
export const tableSpacing = 'xs';

/** Tokens that Mantine has no name for, and Mantine variables that are too pale for a contrast of 4.5 to 1. */
export const cssVariables: CSSVariablesResolver = () => ({
  variables: {
    '--page-width': '1760px',
    '--header-height': `${headerHeight}px`,
    '--border': '1px solid var(--mantine-color-default-border)',
    '--focus-ring': '2px solid var(--mantine-primary-color-filled)',
    '--tab-line': '2px',
    '--table-font-size': tableFontSize,
  },
  light: {
    '--mantine-color-text': gray[9],
    '--mantine-color-dimmed': gray[7],
    '--mantine-color-error': red[9],
    '--logo-ground': accent[7],
    '--logo-line': '#fff',
    '--graph-line': graphColours.light.line,
    '--graph-ground': graphColours.light.ground,
    '--graph-failed': graphColours.light.failed,
    ...kindVariables(kindColours.light),
    '--surface-aside': gray[0],
    '--surface-waiting': yellow[1],
    '--surface-added': teal[1],
    '--surface-removed': red[1],
    '--syntax-text': teal[9],
    '--syntax-plain': blue[9],
  },
  dark: {
    '--mantine-color-dimmed': dark[1],
    // Also on a selected row.
    '--mantine-color-anchor': accent[3],
    '--mantine-color-error': red[5],
    '--logo-ground': accent[3],
    '--logo-line': dark[9],
    '--graph-line': graphColours.dark.line,
    '--graph-ground': graphColours.dark.ground,
    '--graph-failed': graphColours.dark.failed,
    ...kindVariables(kindColours.dark),
    '--surface-aside': dark[8],
    '--surface-waiting': '#4a3a0b',
    '--surface-added': '#0b4a38',
    '--surface-removed': '#5f2222',
    '--syntax-text': teal[3],
    '--syntax-plain': blue[3],
  },
});
