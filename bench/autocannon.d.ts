// The package brings no types; these are the parts used here.
declare module 'autocannon' {
  interface Options {
    url: string;
    connections: number;
    /** Seconds. */
    method?: string;
    duration: number;
  }
  interface Outcome {
    non2xx: number;
    errors: number;
    method?: string;
    duration: number;
    requests: { total: number };
  }
  export default function autocannon(options: Options): Promise<Outcome>;
}
