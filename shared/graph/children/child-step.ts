export interface ChildSignal {
  /** The step whose child has ended or paused. */
  step_key: string;
}
