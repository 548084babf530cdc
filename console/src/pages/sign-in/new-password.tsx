import { PasswordInput, type PasswordInputProps } from '@mantine/core';
import { MAX_PASSWORD_LENGTH, MIN_PASSWORD_LENGTH } from '#shared/people/password-length.ts';
import { newPassword as text } from '#console/src/messages/en/sign-in.ts';
import { countText } from '#console/src/parts/text/numbers.ts';

/** A field for a new password. The browser rejects one that is too short before it is sent. */
export const NewPassword = (props: PasswordInputProps) => (
  <PasswordInput
    label={text.label}
    description={text.about(countText(MIN_PASSWORD_LENGTH))}
    autoComplete="new-password"
    required
    minLength={MIN_PASSWORD_LENGTH}
    maxLength={MAX_PASSWORD_LENGTH}
    {...props}
  />
);
