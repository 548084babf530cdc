import { createTheme, type MantineColor, Modal, Notification } from '@mantine/core';
import type { RunStatus, Step } from '../../client/index.ts';

/** The look of the console. Text keeps a contrast of 4.5 to 1 in both schemes. */
export const theme = createTheme({
  primaryColor: 'indigo',
  // The same in both schemes: the colour of the text on it is chosen for one.
  primaryShade: 7,
  autoContrast: true,
  // Below it white text has a contrast of 4.5, from it on black text has.
  luminanceThreshold: 0.18,
  defaultRadius: 'md',
  cursorType: 'pointer',
  fontFamily:
    'Inter, ui-sans-serif, system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif',
  fontFamilyMonospace:
    'ui-monospace, "SF Mono", "Cascadia Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace',
  headings: { fontWeight: '650' },
  components: {
    // The button that closes a dialog has a cross for a label, which says nothing to who cannot see it. A dialog's
    // header is none of the page.
    Modal: Modal.extend({
      defaultProps: {
        closeButtonProps: { 'aria-label': 'Close' },
        attributes: { header: { role: 'none' } },
      },
    }),
    Notification: Notification.extend({
      defaultProps: { closeButtonProps: { 'aria-label': 'Close' } },
    }),
  },
});

/** What a state of a run or step looks like, wherever it is shown. */
export const stateColours: Record<RunStatus | Step['status'] | 'rejected', MantineColor> = {
  pending: 'gray',
  running: 'blue',
  paused: 'yellow',
  success: 'teal',
  failed: 'red',
  rejected: 'orange',
  skipped: 'gray',
  cancelled: 'orange',
};
