import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import type { LambdaFunctionURLEvent } from 'aws-lambda';
import { headersOf, targetOf } from '../lambda/engines/http-message.ts';

/** The content types whose body a Function URL passes on as text; all others, and none, become base64. */
const textType = /^(text\/.+|application\/(json|javascript|xml))$/;

/** The event that a Function URL makes from a request (payload format 2.0). */
export function toFunctionUrlEvent(
  request: IncomingMessage,
  body: Buffer,
  requestId: string,
  now: number,
): LambdaFunctionURLEvent {
  const { headers, cookies } = headersOf(request);
  const method = request.method ?? 'GET';
  const { path: rawPath, query: rawQueryString } = targetOf(request);
  const domainName = hostname(headers.host);
  const mediaType = headers['content-type']?.split(';')[0]?.trim().toLowerCase() ?? '';
  const isText = textType.test(mediaType) && isUtf8(body);
  return {
    version: '2.0',
    routeKey: '$default',
    rawPath,
    rawQueryString,
    ...(cookies.length > 0 && { cookies: cookies.flatMap((line) => line.split(/; */)) }),
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
        // The connection's own address: a client can write anything into a header.
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
