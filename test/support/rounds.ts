/**
 * How many times a race is run: all of them in the soak, elsewhere a quarter, at least four. The soak also runs each file
 * that asks for it.
 */
export const raceRounds = (inTheSoak: number): number =>
  process.env['ALL_ROUNDS'] === 'on' ? inTheSoak : Math.max(4, Math.ceil(inTheSoak / 4));
