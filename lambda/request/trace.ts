import { randomBytes } from 'node:crypto';

/** Where a request stands in its caller's trace (https://www.w3.org/TR/trace-context/), in hexadecimal digits. */
export interface Trace {
  readonly id: string;
  /** The caller's span, and the gateway's own below it. */
  readonly parent: string;
  readonly span: string;
  /** Whether the caller records the trace. */
  readonly flags: string;
}

/** Version, trace, span and flags; only versions after the first may have more. */
const pattern = /^(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(?:$|(?<!^00.*)-)/;

/** The trace that a `traceparent` names; undefined if there is none, or it is not valid. */
export function readTrace(traceparent = ''): Trace | undefined {
  const [, id, parent, flags] = pattern.exec(traceparent) ?? [];
  if (id === undefined || parent === undefined || flags === undefined) return undefined;
  return { id, parent, flags, span: randomBytes(8).toString('hex') };
}

/** The header that tells an upstream of the trace. */
export const traceparentOf = ({ id, span, flags }: Trace): string => `00-${id}-${span}-${flags}`;
