import { types } from 'node:util';
import type { GatewayError } from './errors.ts';
import type { GatewayRequest } from './gateway-request.ts';

/** What an operator reads of a request. Nothing here holds a prompt, an answer, a key or an address. */
export interface Log {
  /** One line for each request that was answered with an error. */
  refused(request: GatewayRequest, error: GatewayError): void;
  /** One line for each answer that began, when it is over. */
  answered(request: GatewayRequest, outcome: Readonly<Record<string, unknown>>): void;
  /** Something that an operator may have to look into. */
  warn(message: string, fields?: Readonly<Record<string, unknown>>): void;
}

interface Dependencies {
  readonly write: (line: string) => void;
  readonly now: () => number;
}

/** Structured lines, one JSON object each. */
export function createLog({ write, now }: Dependencies): Log {
  const line = (level: string, message: string, fields: Readonly<Record<string, unknown>>): void => {
    write(`${JSON.stringify({ time: new Date(now()).toISOString(), level, message, ...fields })}\n`);
  };
  const describe = (request: GatewayRequest) => ({
    requestId: request.id,
    route: request.route.name,
    caller: request.identity?.kind,
    network: request.networkId,
    model: request.call?.model.id,
    stream: request.call?.stream,
    milliseconds: now() - request.startedAt,
  });

  return {
    refused(request, error) {
      const level = error.status >= 500 ? 'error' : 'info';
      const { status, code, reason } = error;
      line(level, 'refused', { ...describe(request), status, code, reason, ...describeCause(error.cause) });
    },
    answered(request, outcome) {
      line('info', 'answered', { ...describe(request), ...outcome });
    },
    warn: (message, fields = {}) => line('warn', message, fields),
  };
}

/** The kind of an error and where it came from. Its message may quote what a client or an upstream sent. */
export function describeCause(cause: unknown): Record<string, unknown> {
  if (!types.isNativeError(cause)) return cause === undefined ? {} : { cause: typeof cause };
  const code = 'code' in cause && typeof cause.code === 'string' ? cause.code : undefined;
  const at = cause.stack?.split('\n').filter((frame) => /^\s+at /.test(frame));
  return { cause: cause.name, causeCode: code, at: at?.slice(0, 5).map((frame) => frame.trim()) };
}
