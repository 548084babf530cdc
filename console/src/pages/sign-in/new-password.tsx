import { PasswordInput } from '@mantine/core';
import { MAX_PASSWORD_LENGTH, MIN_PASSWORD_LENGTH } from '../../../../shared/password-length.ts';

/** A field for a new password. The browser rejects one that is too short before it is sent. */
export function NewPassword({
  value,
  onChange,
  label = 'Password',
}: {
  value: string;
  onChange: (value: string) => void;
  label?: string;
}) {
  return (
    <PasswordInput
      label={label}
      description={`At least ${MIN_PASSWORD_LENGTH} characters. A few words are easier to remember than symbols.`}
      autoComplete="new-password"
      required
      minLength={MIN_PASSWORD_LENGTH}
      maxLength={MAX_PASSWORD_LENGTH}
      value={value}
      onChange={(event) => onChange(event.currentTarget.value)}
    />
  );
}
