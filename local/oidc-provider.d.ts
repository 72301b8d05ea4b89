declare module 'oidc-provider' {
  import type { IncomingMessage, ServerResponse } from 'node:http';

  /** The part that is used here. */
  export default class Provider {
    constructor(issuer: string, settings: object);
    callback(): (request: IncomingMessage, response: ServerResponse) => void;
  }
}
