import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import type { LambdaFunctionURLEvent } from 'aws-lambda';

/** The content types whose body a Function URL hands over as text; every other, and none, comes as base64. */
const textType = /^(text\/.+|application\/(json|javascript|xml))$/;

/** A request as the event that a Function URL makes of it (payload format 2.0). */
export function toFunctionUrlEvent(
  request: IncomingMessage,
  body: Buffer,
  requestId: string,
  now: number,
): LambdaFunctionURLEvent {
  const { cookie, ...distinct } = request.headersDistinct;
  const headers = Object.fromEntries(Object.entries(distinct).map(([name, values]) => [name, values?.join(',') ?? '']));
  const method = request.method ?? 'GET';
  const { rawPath, rawQueryString } = splitTarget(request.url ?? '/');
  const domainName = hostname(headers.host);
  const mediaType = headers['content-type']?.split(';')[0]?.trim().toLowerCase() ?? '';
  const isText = textType.test(mediaType) && isUtf8(body);
  return {
    version: '2.0',
    routeKey: '$default',
    rawPath,
    rawQueryString,
    ...(cookie && { cookies: cookie.flatMap((line) => line.split(/; */)) }),
    headers,
    ...(rawQueryString !== '' && { queryStringParameters: joinParameters(rawQueryString) }),
    requestContext: {
      accountId: 'anonymous',
      apiId: 'local',
      domainName,
      domainPrefix: domainName.split('.')[0] ?? '',
      http: {
        method,
        path: rawPath,
        protocol: `HTTP/${request.httpVersion}`,
        // The connection's own address: what a client writes into a header is no evidence.
        sourceIp: request.socket.remoteAddress ?? '',
        userAgent: headers['user-agent'] ?? '',
      },
      requestId,
      routeKey: '$default',
      stage: '$default',
      time: formatTime(now),
      timeEpoch: now,
    },
    ...(body.length > 0 && { body: body.toString(isText ? 'utf8' : 'base64') }),
    isBase64Encoded: body.length > 0 && !isText,
  };
}

/** The path stays percent-encoded, as Function URLs leave it (API Gateway decodes it). */
function splitTarget(target: string): { rawPath: string; rawQueryString: string } {
  // A proxy's request names the whole URL; `OPTIONS *` names no path.
  const local = target.replace(/^[a-z][a-z0-9+.-]*:\/\/[^/?]*/i, '');
  const mark = local.indexOf('?');
  const path = mark < 0 ? local : local.slice(0, mark);
  return {
    rawPath: path.startsWith('/') ? path : '/',
    rawQueryString: mark < 0 ? '' : local.slice(mark + 1),
  };
}

function joinParameters(query: string): Record<string, string> {
  const joined = new Map<string, string>();
  for (const [name, value] of new URLSearchParams(query)) {
    const before = joined.get(name);
    joined.set(name, before === undefined ? value : `${before},${value}`);
  }
  return Object.fromEntries(joined);
}

function hostname(host: string | undefined): string {
  return URL.parse(`http://${host}`)?.hostname ?? '';
}

/** `21/Nov/2026:13:30:05 +0000`, the access log's form. */
function formatTime(now: number): string {
  const [, day, month, year, time] = new Date(now).toUTCString().split(' ');
  return `${day}/${month}/${year}:${time} +0000`;
}
