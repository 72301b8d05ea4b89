import { type FailureClass, type FailureKind, failureClasses } from './failure.ts';

const named = new Map(
  Object.entries(failureClasses).flatMap(([kind, { statuses = [] }]: [string, FailureClass]) =>
    statuses.map((status) => [status, kind as FailureKind] as const),
  ),
);

/** The failure class of a status; undefined for a success. */
export function classifyStatus(status: number): FailureKind | undefined {
  if (status >= 200 && status < 300) return undefined;
  const kind = named.get(status);
  if (kind !== undefined) return kind;
  if (status >= 500 && status <= 599) return 'server_error';
  return status >= 400 && status < 500 ? 'caller' : 'unusable';
}
