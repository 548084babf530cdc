import { Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { api } from '#console/src/api.ts';
import { words } from '#console/src/messages/en/words.ts';
import { signup as text } from '#console/src/messages/en/sign-in.ts';
import { Message } from '#console/src/messages/message.tsx';
import { useAction } from '#console/src/parts/forms/action.ts';
import { TextLink } from '#console/src/parts/links.tsx';
import { NewPassword } from './new-password.tsx';
import { SignInForm, SignInFrame } from './sign-in-frame.tsx';

export function SignupPage() {
  const form = useForm({ initialValues: { name: '', email: '', password: '' } });
  const signup = useAction(() => api().signup(form.values), {
    changes: [],
    quiet: true,
  });
  if (signup.data !== undefined) return <Pending email={signup.data.email} />;
  return (
    <SignInFrame title={text.title} about={text.about}>
      <SignInForm label={text.title} submit={text.submit} action={signup}>
        <TextInput
          label={words.name}
          autoComplete="name"
          required
          autoFocus
          maxLength={200}
          {...form.getInputProps('name')}
        />
        <TextInput
          label={words.email}
          type="email"
          autoComplete="username"
          required
          maxLength={254}
          {...form.getInputProps('email')}
        />
        <NewPassword {...form.getInputProps('password')} />
      </SignInForm>
      <Text size="sm">
        <Message text={text.haveAccount} values={{ signIn: <ToSignIn>{text.signIn}</ToSignIn> }} />
      </Text>
    </SignInFrame>
  );
}

function Pending({ email }: { email: string }) {
  return (
    <SignInFrame title={text.waiting}>
      <div role="status">
        <Text size="sm">
          <Message text={text.mustApprove} values={{ email }} />
        </Text>
      </div>
      <Text size="sm">
        <Message
          text={text.onceApproved}
          values={{ signIn: <ToSignIn>{text.signInThen}</ToSignIn> }}
        />
      </Text>
    </SignInFrame>
  );
}

const ToSignIn = ({ children }: { children: string }) => (
  <TextLink to="/login" underline="always">
    {children}
  </TextLink>
);
