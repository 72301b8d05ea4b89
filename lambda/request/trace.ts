import { randomBytes } from 'node:crypto';

/** W3C trace context (https://www.w3.org/TR/trace-context/), in hexadecimal digits. */
export interface Trace {
  readonly id: string;
  /** The caller's span. `span` is the gateway's own, its child. */
  readonly parent: string;
  readonly span: string;
  /** Trace flags: whether the caller samples the trace. */
  readonly flags: string;
}

/** Version, trace id, span id and flags. Only versions after 00 may have more fields. */
const pattern = /^(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(?:$|(?<!^00.*)-)/;

/** Parses a `traceparent` header; undefined if it is missing or invalid. */
export function readTrace(traceparent = ''): Trace | undefined {
  const [, id, parent, flags] = pattern.exec(traceparent) ?? [];
  if (id === undefined || parent === undefined || flags === undefined) return undefined;
  return { id, parent, flags, span: randomBytes(8).toString('hex') };
}

/** The `traceparent` header to send upstream. */
export const traceparentOf = ({ id, span, flags }: Trace): string => `00-${id}-${span}-${flags}`;
