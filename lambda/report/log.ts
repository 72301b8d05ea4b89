import type { Writable } from 'node:stream';
import { GatewayError } from '../errors.ts';
import type { RequestSoFar } from '../request/request.ts';
import { isIntended, lacksUsage, measureRequest, toCurrency, tokensOf } from './measure.ts';
import { embedMetrics, type Measured } from './metrics.ts';

export type Log = ReturnType<typeof createLog>;

/**
 * Takes a line, which is all that a deployed function writes. At a terminal, where the log is for the caller's own eyes, a
 * request's line is shown with the call that it is about; a path may hold anything, so it is not in the line.
 */
export type WriteLog = (line: string, call?: { readonly method: string; readonly path: string }) => void;

/** Sees each request when its answer is over, at this time. */
export type OnFinished = (request: RequestSoFar, status: number, time: number) => void;

export interface LogDependencies {
  readonly write: WriteLog;
  readonly now: () => number;
  readonly metricsNamespace: string;
  readonly onFinished?: OnFinished | undefined;
}

/** Writes lines as JSON objects, each with its metrics. */
export function createWriteLine({ write, now, metricsNamespace }: LogDependencies) {
  return (level: string, message: string, fields: object, measured: Measured = {}, call?: RequestSoFar): void => {
    const time = now();
    const metrics = embedMetrics(metricsNamespace, time, measured);
    write(`${JSON.stringify({ time: new Date(time).toISOString(), level, message, ...fields, ...metrics })}\n`, call);
  };
}

/** The operators' log. No line holds a prompt, an answer, a key or an address. */
export function createLog(dependencies: LogDependencies) {
  const line = createWriteLine(dependencies);

  return {
    /** An environment has started. */
    started: (commit: string): void => line('info', 'started', { commit }),
    /** Writes a request's one line, with its metrics, once its answer is over: Lambda freezes the function right afterwards. */
    finished(request: RequestSoFar, status: number): void {
      const { error, end } = request.outcome;
      const level = error && error.status >= 500 && !isIntended(error) ? 'error' : 'info';
      const time = dependencies.now();
      const duration = time - request.startedAt;
      const fields = {
        ...describe(request),
        status,
        end: end === 'refused' ? undefined : (end ?? 'complete'),
        code: error?.code,
        reason: error?.reason,
        duration,
        ...describeCause(error?.cause),
      };
      const message = end === 'refused' ? 'refused' : 'answered';
      line(level, message, fields, measureRequest(request, status, duration), request);
      dependencies.onFinished?.(request, status, time);
    },
    /** A try at an upstream failed, and the request goes on to another. */
    tryFailed: (failureClass: string, fields: object): void =>
      line('warn', 'upstream failed', fields, { upstreamFailures: { [failureClass]: 1 }, upstreamFailedTries: 1 }),
    /** The store's answer was lost, so a charge, or a reservation as if it had been spent, may stand that nobody should pay. */
    answerLost(cause: unknown, operation: 'charge' | 'refund' | 'settlement' | 'read', requestId?: string): void {
      const described = describeCause(cause);
      if (operation === 'read') line('warn', 'figures not read', described);
      else if (operation === 'settlement') {
        line('warn', 'budget left standing', { requestId, ...described }, { budgetsLeftStanding: 1 });
      } else line('warn', 'charge left standing', { requestId, operation, ...described }, { chargesLeftStanding: 1 });
    },
    /** The same for a count towards a limit of the deployment. */
    countLost: (cause: unknown, limit: string): void =>
      line('warn', 'count left standing', { limit, ...describeCause(cause) }),
    /** Settled answers have spent most of a budget: said once in each of its windows. */
    budgetNearlySpent({ limit, spent, ...whose }: { readonly limit: number; readonly spent: number }): void {
      const fields = { ...whose, limit: toCurrency(limit), spent: toCurrency(spent) };
      line('warn', 'budget nearly spent', fields, { budgetsNearlySpent: 1 });
    },
    /** A charge found reservations of its caller that were lost with their process. */
    reservationsLost(reservations: readonly { readonly amount: number }[], requestId: string): void {
      const reserved = toCurrency(reservations.reduce((sum, { amount }) => sum + amount, 0));
      const fields = { requestId, count: reservations.length, reserved };
      line('warn', 'reservations lost', fields, { lostReservations: reservations.length });
    },
    /** The secret holds no key for some upstreams. */
    keysMissing: (secret: string, hint: string): void => line('error', 'no upstream key', { secret, hint }),
    /** Whether it holds any is not known yet: the next request reads it again. */
    keysNotRead: (secret: string, cause: unknown): void =>
      line('warn', 'upstream keys not read', { secret, ...describeCause(cause) }),
    /** A secret could not be read again; its last known value stays in use. */
    secretNotRefreshed: (cause: unknown): void =>
      line('warn', 'secret not refreshed', describeCause(cause), { secretsNotRefreshed: 1 }),
    /** Nor could the marker by which the operator stops the gateway. */
    stopNotRead: (cause: unknown): void => line('warn', 'stop not read', describeCause(cause)),
    /** Something failed outside of any request. */
    fault: (message: string, error: unknown): void =>
      line('error', message, describeCause(error), { gatewayErrors: 1 }),
  };
}

/** Fields to group by, for free: as dimensions of a metric, each combination of values would be billed. */
function describe(request: RequestSoFar) {
  const { route, identity, parsed, charge, outcome } = request;
  const { attempt } = outcome;
  return {
    requestId: request.id,
    trace: request.trace?.id,
    route: route.name,
    dialect: route.kind === 'inference' ? route.dialect.name : undefined,
    caller: identity?.kind,
    key: identity?.kind === 'member' ? identity.keyId : undefined,
    member: request.memberHash,
    network: request.networkId,
    model: parsed?.model.id,
    stream: parsed?.stream,
    coldStart: request.coldStart || undefined,
    refunded: charge && (outcome.refunded ?? false),
    upstream: attempt?.upstream,
    upstreamStatus: attempt?.upstreamStatus,
    tries: attempt?.tries,
    translated: attempt?.translated || undefined,
    thoughtsRefused: attempt?.thoughtsRefused || undefined,
    leftOut: attempt?.leftOutForLog,
    timeToFirstByte: attempt?.timeToFirstByte,
    ...tokensOf(attempt?.usage ?? {}),
    usage: lacksUsage(request) ? 'absent' : undefined,
    cost: outcome.spending && toCurrency(outcome.spending.cost),
  };
}

/** The kind and origin of an error, or of what is behind the gateway's own, without its message, which may quote somebody. */
export function describeCause(error: unknown): Record<string, unknown> {
  const cause = error instanceof GatewayError ? (error.cause ?? error) : error;
  if (!Error.isError(cause)) return cause === undefined ? {} : { cause: typeof cause };
  const code = 'code' in cause && typeof cause.code === 'string' ? cause.code : undefined;
  return { cause: cause.name, causeCode: code, at: framesOf(cause).slice(0, 5) };
}

/** Skips the message, which comes before the frames and may have lines that look like frames. */
function framesOf({ message, stack = '' }: Error): string[] {
  const start = stack.indexOf(message);
  if (start < 0) return [];
  const lines = stack.slice(start + message.length).split('\n');
  return lines.filter((line) => /^\s+at /.test(line)).map((line) => line.trim());
}

/** Writes lines to a stream. Those of one turn of the event loop leave together, in one write to the system. */
export function gatherLines(stream: Writable): (line: string) => void {
  return (line) => {
    stream.cork();
    stream.write(line);
    // It leaves when the last of them has been let go of.
    setImmediate(() => stream.uncork());
  };
}

/** Resolves when everything written has been taken, or after `timeLimit` milliseconds if nobody takes it. */
export function flushed(stream: Writable, timeLimit: number): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, timeLimit);
  // A write calls back after all earlier ones, even if it fails.
  stream.write('', () => {
    clearTimeout(timer);
    resolve();
  });
  return promise;
}
