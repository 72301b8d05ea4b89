/** A command failed for a reason that the operator can act on. The message is all that is shown. */
export class CommandError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'CommandError';
  }
}
