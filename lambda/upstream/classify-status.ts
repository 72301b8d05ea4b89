import type { FailureKind } from './failure.ts';

/** The class that a status stands for; undefined where it is a success. */
export function classifyStatus(status: number): FailureKind | undefined {
  if (status >= 200 && status < 300) return undefined;
  if (status === 401 || status === 402) return 'credentials';
  if (status === 403) return 'forbidden';
  if (status === 404) return 'missing';
  if (status === 408) return 'upstream_timeout';
  if (status === 413) return 'too_large';
  if (status === 429) return 'limited';
  if (status >= 500 && status <= 599) return 'server_error';
  return status >= 400 && status < 500 ? 'caller' : 'unusable';
}
