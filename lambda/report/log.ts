import type { Writable } from 'node:stream';
import { GatewayError } from '../errors.ts';
import type { RequestSoFar } from '../request/request.ts';
import { isIntended, lacksUsage, measureRequest, toCurrency, tokensOf } from './measure.ts';
import { embedMetrics, type Measured } from './metrics.ts';

export type Log = ReturnType<typeof createLog>;

/**
 * Writes a line. The request that a line is about comes along for the local gateway, which shows its method and path in the
 * terminal. They are not in the line itself, because a path may contain anything.
 */
export type WriteLog = (line: string, request?: { readonly method: string; readonly path: string }) => void;

/** Called with each request when its response has ended. */
export type OnFinished = (request: RequestSoFar, status: number, time: number) => void;

/** Sees what each line measures. */
export type OnMeasured = (measured: Measured) => void;

export interface LogDependencies {
  readonly write: WriteLog;
  readonly now: () => number;
  /** Of the metrics in each line; undefined if nothing reads them there. */
  readonly metricsNamespace: string | undefined;
  readonly onFinished?: OnFinished | undefined;
  readonly onMeasured?: OnMeasured | undefined;
}

/** Writes lines as JSON objects, each with its metrics. */
export function createWriteLine({ write, now, metricsNamespace, onMeasured }: LogDependencies) {
  return (level: string, message: string, fields: object, measured: Measured = {}, request?: RequestSoFar): void => {
    const time = now();
    onMeasured?.(measured);
    const metrics = metricsNamespace === undefined ? {} : embedMetrics(metricsNamespace, time, measured);
    write(
      `${JSON.stringify({ time: new Date(time).toISOString(), level, message, ...fields, ...metrics })}\n`,
      request,
    );
  };
}

/** The operators' log. No line holds a prompt, an answer, a key or an address. */
export function createLog(dependencies: LogDependencies) {
  const line = createWriteLine(dependencies);

  return {
    /** A process has started. */
    started: (commit: string): void => line('info', 'started', { commit }),
    /** Writes the one line of a request, with its metrics, as soon as the response has ended: Lambda freezes the process right after. */
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
        hint: hintOf(request),
      };
      const message = end === 'refused' ? 'refused' : 'answered';
      line(level, message, fields, measureRequest(request, status, duration), request);
      dependencies.onFinished?.(request, status, time);
    },
    /** An upstream attempt failed, and the request fails over to the next one. */
    tryFailed: (failureClass: string, fields: object): void =>
      line('warn', 'upstream failed', fields, { upstreamFailures: { [failureClass]: 1 }, upstreamFailedTries: 1 }),
    /** The store's response was lost. A charge or a reservation may be left standing that nobody should pay for. */
    answerLost(cause: unknown, operation: 'charge' | 'refund' | 'settlement' | 'read', requestId?: string): void {
      const described = describeCause(cause);
      if (operation === 'read') line('warn', 'figures not read', described);
      else if (operation === 'settlement') {
        line('warn', 'budget left standing', { requestId, ...described }, { budgetsLeftStanding: 1 });
      } else line('warn', 'charge left standing', { requestId, operation, ...described }, { chargesLeftStanding: 1 });
    },
    /** The same for a deployment-wide count. */
    countLost: (cause: unknown, limit: string): void =>
      line('warn', 'count left standing', { limit, ...describeCause(cause) }),
    /** A budget is nearly used up. Logged once in each budget period. */
    budgetNearlySpent({ limit, spent, ...whose }: { readonly limit: number; readonly spent: number }): void {
      const fields = { ...whose, limit: toCurrency(limit), spent: toCurrency(spent) };
      line('warn', 'budget nearly spent', fields, { budgetsNearlySpent: 1 });
    },
    /** A charge found reservations whose process had died. */
    reservationsLost(reservations: readonly { readonly amount: number }[], whose: object): void {
      const reserved = toCurrency(reservations.reduce((sum, { amount }) => sum + amount, 0));
      const fields = { ...whose, count: reservations.length, reserved };
      line('warn', 'reservations lost', fields, { lostReservations: reservations.length });
    },
    /** The secret has no key for some upstreams. */
    keysMissing: (secret: string, hint: string): void => line('error', 'no upstream key', { secret, hint }),
    /** The secret or the AWS credentials could not be read yet. The next request tries again. */
    keysNotRead: (secret: string | undefined, cause: unknown): void =>
      line('warn', 'upstream keys not read', { secret, ...describeCause(cause) }),
    /** The result of checking an upstream at the start. */
    upstreamChecked: (found: object & { readonly hint?: string | undefined }): void =>
      line(found.hint === undefined ? 'info' : 'warn', 'upstream checked', found),
    /** A secret could not be refreshed; its last value stays in use. */
    secretNotRefreshed: (cause: unknown): void =>
      line('warn', 'secret not refreshed', describeCause(cause), { secretsNotRefreshed: 1 }),
    /** The operator's stop switch could not be refreshed. */
    stopNotRead: (cause: unknown): void => line('warn', 'stop not read', describeCause(cause)),
    /** Something failed outside any request. */
    fault: (message: string, error: unknown): void =>
      line('error', message, describeCause(error), { gatewayErrors: 1 }),
  };
}

/** Fields to group by. In the log that is free; as metric dimensions, each combination of values would be billed. */
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
    thoughtsRefused: attempt?.reasoningRefused || undefined,
    leftOut: attempt?.leftOutForLog,
    timeToFirstByte: attempt?.timeToFirstByte,
    ...tokensOf(attempt?.usage ?? {}),
    usage: lacksUsage(request) ? 'absent' : undefined,
    cost: outcome.spending && toCurrency(outcome.spending.cost),
  };
}

/** What to do about an upstream's 404, which is hard to guess: most do not speak every dialect. */
function hintOf({ route, outcome: { attempt } }: RequestSoFar): string | undefined {
  if (attempt?.failure !== 'missing' || attempt.translated || route.kind !== 'inference') return undefined;
  const { name } = route.dialect;
  return `does the upstream know the model, and speak ${name}? if it does not, leave ${name} out of ${attempt.upstream}_DIALECTS`;
}

/** The name, code and stack of an error, or of a GatewayError's cause. Never its message, which may quote what a caller sent. */
export function describeCause(error: unknown): Record<string, unknown> {
  const cause = error instanceof GatewayError ? (error.cause ?? error) : error;
  if (!Error.isError(cause)) return cause === undefined ? {} : { cause: typeof cause };
  const code = 'code' in cause && typeof cause.code === 'string' ? cause.code : undefined;
  return { cause: cause.name, causeCode: code, at: framesOf(cause).slice(0, 5) };
}

/** Skips the message at the top of the stack, because its lines might look like frames. */
function framesOf({ message, stack = '' }: Error): string[] {
  const start = stack.indexOf(message);
  if (start < 0) return [];
  const lines = stack.slice(start + message.length).split('\n');
  return lines.filter((line) => /^\s+at /.test(line)).map((line) => line.trim());
}

/** Writes lines to a stream, batching all lines of one event loop turn into a single write. */
export function gatherLines(stream: Writable): (line: string) => void {
  return (line) => {
    stream.cork();
    stream.write(line);
    // The stream flushes when it has been uncorked as often as it was corked.
    setImmediate(() => stream.uncork());
  };
}

/** Resolves when everything written has been flushed, or after `timeLimit` milliseconds. */
export function flushed(stream: Writable, timeLimit: number): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, timeLimit);
  // The callback runs after all earlier writes, even if they fail.
  stream.write('', () => {
    clearTimeout(timer);
    resolve();
  });
  return promise;
}
