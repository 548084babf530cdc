/** US dollars per million tokens. */
export interface Rate {
  inputUsd: number;
  outputUsd: number;
  /** For input that the provider read from its cache. Without it, such input costs the full rate. */
  cachedInputUsd?: number;
}

export interface ModelPrice extends Rate {
  /** Some models charge the whole request at another rate when its input is longer than this. */
  longContext?: Rate & { aboveInputTokens: number };
}
