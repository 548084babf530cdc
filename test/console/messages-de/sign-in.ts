import type * as english from '#console/src/messages/en/sign-in.ts';
import type { Translated } from '#console/src/messages/format.ts';

export { invite, newPassword, signup } from '#console/src/messages/en/sign-in.ts';

export const login: Translated<typeof english.login> = {
  title: 'Anmelden',
  ended: 'Ihre Sitzung ist beendet',
  endedAbout: 'Melden Sie sich an, um dort weiterzumachen.',
  noAccount: 'Noch kein Konto? {signUp} oder {useCode}.',
  signUp: 'Registrieren',
  useCode: 'Einladung verwenden',
  openMode: 'Dieser Dienst braucht keine Anmeldung. Sie handeln als {owner} des Arbeitsbereichs.',
  owner: 'Inhaber',
  continue: 'Weiter',
  anyway: 'Trotzdem anmelden',
};

export const loginForm: Translated<typeof english.loginForm> = {
  label: 'Anmelden',
  email: 'E-Mail',
  password: 'Passwort',
  submit: 'Anmelden',
};
