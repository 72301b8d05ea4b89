/** A command can't do what it was asked: its message is all that the operator sees. */
export class CommandError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'CommandError';
  }
}
