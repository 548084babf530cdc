// The package ships no types; these are the parts used here.
declare module 'autocannon' {
  interface Options {
    url: string;
    method?: string;
    connections: number;
    /** Seconds. */
    duration: number;
    headers?: Record<string, string>;
  }
  interface Outcome {
    non2xx: number;
    errors: number;
    duration: number;
    requests: { total: number };
  }
  export default function autocannon(options: Options): Promise<Outcome>;
}
