import type { ClientRequestArgs } from 'node:http';
import { Agent as NodeAgent } from 'node:https';
import { here } from './current.ts';

export * from 'node:https';

export class Agent extends NodeAgent {
  override createConnection(options: ClientRequestArgs) {
    return here().connect(options);
  }
}
