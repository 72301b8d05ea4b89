/** An HTTP answer, whole. */
export interface HttpAnswer {
  readonly status: number;
  readonly text: string;
  /** The value of its Date header; empty if it has none. */
  readonly date: string;
  /** Whether its connection can carry another request. */
  readonly keepsConnection: boolean;
}

/** In bytes: more than any item or secret can have, and than any head. */
const longest = 1024 * 1024;

/**
 * Reads an answer to a POST from all the bytes that came since the request; undefined if some are missing. Throws if they are
 * no such answer. `isOver`: the connection has been closed, and no more will come.
 */
export function readAnswer(bytes: Buffer, isOver: boolean): HttpAnswer | undefined {
  if (bytes.length > longest) throw new Error('the answer is too large');
  const headEnd = bytes.indexOf('\r\n\r\n');
  if (headEnd < 0) return undefined;
  const head = bytes.toString('latin1', 0, headEnd);
  const [, version, code = ''] = /^HTTP\/1\.([01]) (\d{3})(?:[ \r]|$)/.exec(head) ?? [];
  const status = Number(code);
  if (version === undefined || status < 100 || status === 101) throw new Error('the answer is no HTTP answer');
  const rest = bytes.subarray(headEnd + 4);
  if (status < 200) return readAnswer(rest, isOver);
  const body = readBody(rest, status, head, isOver);
  if (!body) return undefined;
  return {
    status,
    text: body.text,
    date: /\r\ndate:[ \t]*([^\r]*)/i.exec(head)?.[1] ?? '',
    keepsConnection:
      body.end === rest.length && !isOver && version === '1' && !/\r\nconnection:[^\r]*close/i.test(head),
  };
}

interface Body {
  readonly text: string;
  /** Where it ends. */
  readonly end: number;
}

function readBody(bytes: Buffer, status: number, head: string, isOver: boolean): Body | undefined {
  if (status === 204 || status === 304) return { text: '', end: 0 };
  const framing = [...head.matchAll(/\r\n(content-length|transfer-encoding)[ \t]*:[ \t]*([^\r]*)/gi)];
  const [[, name = '', value = ''] = [], another] = framing;
  if (name === '') return isOver ? { text: bytes.toString(), end: bytes.length } : undefined;
  const isChunked = /^t/i.test(name);
  if (another || !(isChunked ? /^chunked[ \t]*$/i : /^\d+[ \t]*$/).test(value)) {
    throw new Error('the answer does not say clearly how long it is');
  }
  if (isChunked) return readChunks(bytes);
  const end = Number(value);
  return bytes.length < end ? undefined : { text: bytes.toString('utf8', 0, end), end };
}

/** A body in chunks, each after a line with its length in hexadecimal; the last is empty, and headers may follow it. */
function readChunks(bytes: Buffer): Body | undefined {
  const chunks: Buffer[] = [];
  for (let at = 0; ; ) {
    const lineEnd = bytes.indexOf('\r\n', at);
    if (lineEnd < 0) return undefined;
    const [, digits] = /^([\da-f]{1,8})[ \t]*(?:;.*)?$/i.exec(bytes.toString('latin1', at, lineEnd)) ?? [];
    if (digits === undefined) throw new Error('the answer has a chunk without a length');
    const start = lineEnd + 2;
    const end = start + Number.parseInt(digits, 16);
    if (end === start) {
      const last = bytes.indexOf('\r\n\r\n', lineEnd);
      return last < 0 ? undefined : { text: Buffer.concat(chunks).toString(), end: last + 4 };
    }
    if (bytes.length < end + 2) return undefined;
    if (bytes.indexOf('\r\n', end) !== end) throw new Error('the answer has a chunk of another length than it says');
    chunks.push(bytes.subarray(start, end));
    at = end + 2;
  }
}
