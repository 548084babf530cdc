import { Button } from '@mantine/core';
import { IconDownload } from '@tabler/icons-react';
import type { Run } from '#client/index.ts';
import { api } from '#console/src/api.ts';
import { runActions as text } from '#console/src/messages/en/runs/actions.ts';
import { useAction } from '#console/src/parts/forms/action.ts';
import { saveFile } from '#console/src/parts/save-file.ts';

/** Saves what proves how the run went. */
export function EvidenceButton({ run }: { run: Run }) {
  const save = useAction(
    async () => {
      const evidence = await api().exportEvidence(run.id, { contents: true });
      saveFile(`${run.id}.evidence.ndjson`, evidence, 'application/x-ndjson');
    },
    { changes: [] },
  );
  return (
    <Button
      variant="default"
      loading={save.isPending}
      leftSection={<IconDownload size={16} aria-hidden />}
      onClick={() => save.mutate(undefined)}
    >
      {text.evidence}
    </Button>
  );
}
