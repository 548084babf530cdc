/** A mistake in what a test gives, or a workflow that the service would refuse. The run has no result. */
export class PlayError extends Error {
  override readonly name = 'PlayError';
  /** For an invalid graph: all errors, as `validate` reports them. */
  readonly errors: readonly {
    code: string;
    message: string;
    node_id?: string;
    path?: string;
    /** Offset in the text at `path`, from 0. */
    position?: number;
  }[];

  constructor(message: string, errors: PlayError['errors'] = []) {
    super(message);
    this.errors = errors;
  }
}
