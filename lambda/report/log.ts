import { types } from 'node:util';
import type { GatewayRequest } from '../http/gateway-request.ts';
import { embedMetrics } from './emf.ts';
import {
  isIntended,
  lacksUsage,
  measureFailedTry,
  measureFault,
  measureLeftStanding,
  measureRequest,
  measureStaleSecret,
} from './measure.ts';

/** What an operator reads of a request. Nothing here holds a prompt, an answer, a key or an address. */
export interface Log {
  /** An environment has started. */
  started(commit: string): void;
  /** The one line of a request, with its metrics, when its answer is over: Lambda freezes the function right afterwards. */
  finished(request: GatewayRequest, status: number): void;
  /** A try that failed upstream, and is followed by another for the same request. */
  triedInVain(failureClass: string, fields: Readonly<Record<string, unknown>>): void;
  /** The store's answer to a charge or a refund was lost, so that a charge may stand which nobody should pay. */
  leftStanding(operation: 'charge' | 'refund', cause: unknown): void;
  /** A secret could not be read again, so that what was known of it stays in use. */
  secretNotRefreshed(cause: unknown): void;
  /** What went wrong outside of every request. */
  fault(message: string, error: unknown): void;
  /** Something that an operator may have to look into. */
  warn(message: string, fields?: Readonly<Record<string, unknown>>): void;
}

interface Dependencies {
  readonly write: (line: string) => void;
  readonly now: () => number;
  readonly metricsNamespace: string;
}

/** Structured lines, one JSON object each. */
export function createLog({ write, now, metricsNamespace }: Dependencies): Log {
  const line = (time: number, level: string, message: string, fields: object): void => {
    write(`${JSON.stringify({ time: new Date(time).toISOString(), level, message, ...fields })}\n`);
  };

  return {
    started: (commit) => line(now(), 'info', 'started', { commit }),
    finished(request, status) {
      const time = now();
      const { error, end } = request;
      const level = error && error.status >= 500 && !isIntended(error) ? 'error' : 'info';
      const duration = time - request.startedAt;
      line(time, level, end === 'refused' ? 'refused' : 'answered', {
        ...describe(request),
        status,
        end: end === 'refused' ? undefined : (end ?? 'complete'),
        code: error?.code,
        reason: error?.reason,
        duration,
        ...describeCause(error?.cause),
        ...embedMetrics(metricsNamespace, time, measureRequest(request, duration)),
      });
    },
    triedInVain(failureClass, fields) {
      const time = now();
      const metrics = embedMetrics(metricsNamespace, time, measureFailedTry(failureClass));
      line(time, 'warn', 'upstream failed', { ...fields, ...metrics });
    },
    leftStanding(operation, cause) {
      const time = now();
      const metrics = embedMetrics(metricsNamespace, time, [measureLeftStanding()]);
      line(time, 'warn', 'charge left standing', { operation, ...describeCause(cause), ...metrics });
    },
    secretNotRefreshed(cause) {
      const time = now();
      const metrics = embedMetrics(metricsNamespace, time, [measureStaleSecret()]);
      line(time, 'warn', 'secret not refreshed', { ...describeCause(cause), ...metrics });
    },
    fault(message, error) {
      const time = now();
      const metrics = embedMetrics(metricsNamespace, time, [measureFault()]);
      line(time, 'error', message, { ...describeCause(error), ...metrics });
    },
    warn: (message, fields = {}) => line(now(), 'warn', message, fields),
  };
}

/** By these an operator groups and crosses, at no price; as dimensions of metrics, each pair of values would be billed. */
function describe(request: GatewayRequest) {
  const { route, identity, call, charge, exchange } = request;
  return {
    requestId: request.id,
    route: route.name,
    dialect: route.kind === 'inference' ? route.dialect.name : undefined,
    caller: identity?.kind,
    key: identity?.kind === 'member' ? identity.keyId : undefined,
    member: request.memberHash,
    network: request.networkId,
    model: call?.model.id,
    stream: call?.stream,
    coldStart: request.coldStart || undefined,
    refunded: charge && (request.refunded ?? false),
    upstream: exchange?.upstream,
    upstreamStatus: exchange?.upstreamStatus,
    tries: exchange?.tries,
    timeToFirstByte: exchange?.timeToFirstByte,
    inputTokens: exchange?.usage.input,
    cacheReadTokens: exchange?.usage.cacheRead,
    cacheWriteTokens: exchange?.usage.cacheWrite,
    outputTokens: exchange?.usage.output,
    reasoningTokens: exchange?.usage.reasoning,
    usage: lacksUsage(request) ? 'absent' : undefined,
  };
}

/** The kind of an error and where it came from. Its message may quote what a client or an upstream sent. */
export function describeCause(cause: unknown): Record<string, unknown> {
  if (!types.isNativeError(cause)) return cause === undefined ? {} : { cause: typeof cause };
  const code = 'code' in cause && typeof cause.code === 'string' ? cause.code : undefined;
  return { cause: cause.name, causeCode: code, at: framesOf(cause).slice(0, 5) };
}

/** A message stands before the frames, and may have lines that look like some. */
function framesOf({ message, stack = '' }: Error): string[] {
  const start = stack.indexOf(message);
  if (start < 0) return [];
  const lines = stack.slice(start + message.length).split('\n');
  return lines.filter((line) => /^\s+at /.test(line)).map((line) => line.trim());
}
