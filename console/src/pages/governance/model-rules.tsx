import { Radio, Stack, TagsInput } from '@mantine/core';
import { priceTable } from '../../../../shared/prices.ts';
import type { PolicyDraft } from './policy-draft.ts';

/** Names that come to mind; any other can be typed. */
const suggestions = ['mock', ...Object.keys(priceTable.models)];

/** Which models agents may ask. */
export function ModelRules({
  draft,
  change,
}: {
  draft: PolicyDraft;
  change: (part: Partial<PolicyDraft>) => void;
}) {
  return (
    <Stack gap="sm">
      <Radio.Group
        aria-label="Which models agents may ask"
        value={draft.restrictModels ? 'listed' : 'all'}
        onChange={(value) => change({ restrictModels: value === 'listed' })}
      >
        <Stack gap="xs">
          <Radio value="all" label="All models" />
          <Radio
            value="listed"
            label="Only listed models"
            description="A step that asks another one fails at once. A fallback that is not listed is skipped."
          />
        </Stack>
      </Radio.Group>
      {draft.restrictModels && (
        <TagsInput
          label="Allowed models"
          description="As provider/model. Press Enter after each."
          value={draft.models}
          onChange={(models) => change({ models })}
          data={suggestions}
          limit={20}
          acceptValueOnBlur
          clearable
          clearButtonProps={{ 'aria-label': 'Remove all models' }}
          error={draft.models.length === 0 ? 'With none listed, no agent can run.' : undefined}
        />
      )}
    </Stack>
  );
}
