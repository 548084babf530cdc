import { Page } from '../../parts/page.tsx';

export function SignupPage() {
  return <Page title="Signup">{null}</Page>;
}
