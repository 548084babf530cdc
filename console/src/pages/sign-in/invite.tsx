import { Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { api } from '#console/src/api.ts';
import { words } from '#console/src/messages/en/words.ts';
import { invite as text } from '#console/src/messages/en/sign-in.ts';
import { Message } from '#console/src/messages/message.tsx';
import { useAction } from '#console/src/parts/forms/action.ts';
import { TextLink } from '#console/src/parts/links.tsx';
import { signIn } from '#console/src/session.ts';
import { NewPassword } from './new-password.tsx';
import { SignInForm, SignInFrame } from './sign-in-frame.tsx';

export function InvitePage() {
  const given = useSearch({ from: '/invite' }).code;
  const navigate = useNavigate();
  const form = useForm({ initialValues: { code: given ?? '', name: '', password: '' } });
  const { code, name, password } = form.values;
  const join = useAction(
    () =>
      api().acceptInvite({
        invite_code: code.trim(),
        password,
        name: name.trim() || undefined,
      }),
    {
      changes: [],
      quiet: true,
      onDone: ({ token }) => {
        signIn(token);
        // Keeps the used code out of the browser history.
        void navigate({ to: '/', replace: true });
      },
    },
  );
  return (
    <SignInFrame title={text.title} about={text.about}>
      <SignInForm label={text.title} submit={text.submit} action={join}>
        <TextInput
          label={text.code}
          autoComplete="off"
          required
          maxLength={200}
          {...form.getInputProps('code')}
        />
        <TextInput
          label={words.name}
          description={text.nameAbout}
          autoComplete="name"
          maxLength={200}
          {...form.getInputProps('name')}
        />
        <NewPassword {...form.getInputProps('password')} />
      </SignInForm>
      <Text size="sm">
        <Message
          text={text.joined}
          values={{
            signIn: (
              <TextLink to="/login" underline="always">
                {text.signIn}
              </TextLink>
            ),
          }}
        />
      </Text>
    </SignInFrame>
  );
}
