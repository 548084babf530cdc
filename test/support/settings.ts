/** A TEST_* variable that scripts/test.ts sets before it starts jest. */
export function setting(name: string): string {
  const value = process.env[name];
  if (value === undefined || value === '') {
    throw new Error(
      `${name} is not set: start the tests with npm test -- <file>, which brings the servers up`,
    );
  }
  return value;
}
