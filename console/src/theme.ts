import {
  createTheme,
  darken,
  defaultVariantColorsResolver,
  type MantineColor,
  Menu,
  Modal,
  Notification,
  parseThemeColor,
  Table,
} from '@mantine/core';
import type { RunStatus, Step } from '#client/index.ts';
import { words } from './messages/en/words.ts';
import {
  colours,
  fontSizes,
  fontWeights,
  headingSizes,
  radius,
  spacing,
  tableSpacing,
} from './tokens.ts';

/** The theme of the console. Text has a contrast of at least 4.5 to 1 in both schemes. */
export const theme = createTheme({
  colors: colours,
  primaryColor: 'accent',
  // The same in both schemes, since the text color on it is chosen for only one.
  primaryShade: 7,
  autoContrast: true,
  // White text has a contrast of 4.5 below it, black text at or above it.
  luminanceThreshold: 0.18,
  defaultRadius: 'md',
  fontSizes,
  spacing,
  radius,
  cursorType: 'pointer',
  respectReducedMotion: true,
  // By default the darkest shade becomes lighter under the pointer, too light for its white text.
  variantColorResolver: (input) => {
    const colors = defaultVariantColorsResolver(input);
    const { shade, value } = parseThemeColor({
      color: input.color ?? input.theme.primaryColor,
      theme: input.theme,
    });
    // The hover color of the library is too dark for the text on it.
    if (input.color === 'danger' && (input.variant === 'light' || input.variant === 'subtle')) {
      return { ...colors, hover: 'var(--mantine-color-danger-light)' };
    }
    return input.variant === 'filled' && shade === 9
      ? { ...colors, hover: darken(value, 0.1) }
      : colors;
  },
  fontFamily: 'Inter, "Inter fallback", ui-sans-serif, system-ui, sans-serif',
  fontWeights,
  fontFamilyMonospace:
    'ui-monospace, "SF Mono", "Cascadia Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace',
  headings: { fontWeight: fontWeights.bold, sizes: headingSizes },
  components: {
    Table: Table.extend({ defaultProps: { verticalSpacing: tableSpacing } }),
    // The close button of a dialog only has an icon, so it needs a label for screen readers. A dialog's header is not
    // the header of the page.
    Modal: Modal.extend({
      defaultProps: {
        closeButtonProps: { 'aria-label': words.close },
        attributes: { header: { role: 'none' } },
      },
    }),
    // The placeholder for the initial focus is not allowed in a menu. Without it, the first item has the focus.
    Menu: Menu.extend({ defaultProps: { withInitialFocusPlaceholder: false } }),
    Notification: Notification.extend({
      defaultProps: { closeButtonProps: { 'aria-label': words.close } },
      // Mantine's gray is too pale under a title.
      styles: { description: { color: 'var(--mantine-color-text)' } },
    }),
  },
});

/** The color of each run and step state. */
export const stateColours: Record<
  RunStatus | Step['status'] | 'rejected' | 'overBudget' | 'queued',
  MantineColor
> = {
  pending: 'gray',
  queued: 'gray',
  running: 'info',
  paused: 'warning',
  success: 'success',
  failed: 'danger',
  rejected: 'caution',
  skipped: 'gray',
  cancelled: 'gray',
  unrecorded: 'gray',
  overBudget: 'caution',
};
