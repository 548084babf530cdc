import { defaultHighlightStyle, HighlightStyle } from '@codemirror/language';

/** CodeMirror's colors are for a light background. For a dark one, each is mixed with white. */
export const darkCodeColours = HighlightStyle.define(
  defaultHighlightStyle.specs.map(({ color, ...spec }) =>
    typeof color === 'string'
      ? { ...spec, color: `color-mix(in srgb, ${color}, white 60%)` }
      : spec,
  ),
  { themeType: 'dark' },
);
