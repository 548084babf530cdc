import { Box, CloseButton, Drawer, Splitter, type SplitterProps, Stack } from '@mantine/core';
import { useLocalStorage } from '@mantine/hooks';
import type { ReactNode } from 'react';
import { run as text } from '#console/src/messages/en/runs/run.ts';

/** In percent. */
const SIZES = [57, 43];
const LEAST = 28;

interface PanesProps {
  /** Whether there is room for two panes. */
  wide: boolean;
  views: ReactNode;
  /** Beside the views while no step is selected: the open decisions, and the data of the run. */
  gates: ReactNode;
  whole: ReactNode;
  /** The selected step; false while none is selected. */
  step: ReactNode;
  close: () => void;
}

/**
 * The views of a run, and beside them the selected step or the run as a whole. The width of the panes is stored in the
 * browser. In a narrow window, all is in one column, decisions first, and the step is over it.
 */
export function Panes({ wide, views, gates, whole, step, close }: PanesProps) {
  const [sizes, setSizes] = useLocalStorage<SplitterProps['sizes']>({
    key: 'workflows.run-panes',
    defaultValue: SIZES,
    getInitialValueInEffect: false,
  });
  const closable = step !== false && (
    <>
      <CloseButton aria-label={text.closeStep} style={{ float: 'right' }} onClick={close} />
      {step}
    </>
  );
  if (!wide) {
    return (
      <Stack gap="lg">
        {step === false && gates}
        {views}
        {whole}
        <StepDrawer step={closable} close={close} />
      </Stack>
    );
  }
  return (
    <Splitter
      className="run-panes"
      sizes={sizes}
      onSizeChange={setSizes}
      step={2}
      attributes={{ handle: { 'aria-label': text.separator } }}
    >
      <Splitter.Pane className="run-pane" defaultSize={SIZES[0] ?? 0} min={LEAST}>
        {views}
      </Splitter.Pane>
      <Splitter.Pane className="run-pane" defaultSize={SIZES[1] ?? 0} min={LEAST}>
        <Box
          component="aside"
          aria-label={step === false ? text.whole : text.selectedStep}
          className="run-aside"
          tabIndex={0}
        >
          {step === false ? (
            <Stack gap="lg">
              {gates}
              {whole}
            </Stack>
          ) : (
            closable
          )}
        </Box>
      </Splitter.Pane>
    </Splitter>
  );
}

const StepDrawer = ({ step, close }: { step: ReactNode; close: () => void }) => (
  <Drawer.Root opened={step !== false} onClose={close} position="bottom" size="75%">
    <Drawer.Overlay />
    <Drawer.Content aria-label={text.selectedStep}>
      <Drawer.Body>{step}</Drawer.Body>
    </Drawer.Content>
  </Drawer.Root>
);
