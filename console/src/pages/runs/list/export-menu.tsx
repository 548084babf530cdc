import { Button, Menu } from '@mantine/core';
import { IconDownload } from '@tabler/icons-react';
import { api } from '#console/src/api.ts';
import { words } from '#console/src/messages/en/words.ts';
import { exportMenu as texts } from '#console/src/messages/en/runs/list.ts';
import { useAction } from '#console/src/parts/forms/action.ts';
import { saveFile } from '#console/src/parts/save-file.ts';
import type { RunFilter } from '#console/src/queries/runs.ts';

/** Saves the runs that match the filters as a file. */
export function ExportMenu({ filter }: { filter: RunFilter }) {
  const save = useAction(
    async (format: 'csv' | 'ndjson') => {
      const text = await api().exportRuns(filter, format);
      saveFile(`runs.${format}`, text, format === 'csv' ? 'text/csv' : 'application/x-ndjson');
    },
    { changes: [] },
  );
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <Button
          variant="default"
          loading={save.isPending}
          leftSection={<IconDownload size={16} aria-hidden />}
        >
          {words.export}
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item onClick={() => save.mutate('csv')}>{texts.csv}</Menu.Item>
        <Menu.Item onClick={() => save.mutate('ndjson')}>{texts.ndjson}</Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
