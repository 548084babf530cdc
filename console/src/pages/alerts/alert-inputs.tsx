import { Checkbox, Stack, TagsInput } from '@mantine/core';
import type { AlertSettings } from '#client/index.ts';
import { alertsForm as text } from '#console/src/messages/en/workspace/alerts.ts';

type AlertEvent = AlertSettings['on'][number];

export function AddressesInput({
  value,
  onChange,
  ...rest
}: {
  label: string;
  description: string;
  value: string[];
  onChange: (value: string[]) => void;
}) {
  return (
    <TagsInput
      {...rest}
      placeholder="ops@example.com"
      value={value}
      onChange={onChange}
      maxTags={20}
      acceptValueOnBlur
    />
  );
}

export function EventsInput({
  label,
  value,
  onChange,
}: {
  label: string;
  value: AlertEvent[];
  onChange: (value: AlertEvent[]) => void;
}) {
  return (
    <Checkbox.Group
      label={label}
      value={value}
      onChange={(chosen) => onChange(chosen as AlertEvent[])}
    >
      <Stack gap="xs" mt="xs">
        {Object.entries(text.events).map(([event, about]) => (
          <Checkbox key={event} value={event} label={about} />
        ))}
      </Stack>
    </Checkbox.Group>
  );
}
