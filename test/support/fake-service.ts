import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { SignatureV4 } from '@smithy/signature-v4';
import type { Credentials } from '../../lambda/aws/access.ts';
import { listenLocally } from '../../local/listen-locally.ts';

interface ServiceRequest {
  readonly method: string | undefined;
  readonly path: string | undefined;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
  readonly socket: Socket;
}

export type Reply = (response: ServerResponse, request: ServiceRequest) => unknown;

export type FakeService = Awaited<ReturnType<typeof startFakeService>>;

/** A service with scripted responses, one per request. The last one repeats. */
export async function startFakeService(...replies: readonly [Reply, ...Reply[]]) {
  const requests: ServiceRequest[] = [];
  const server = createServer(async (incoming, response) => {
    const { method, url: path, headers, socket } = incoming;
    const request = { method, path, headers, body: await text(incoming), socket };
    requests.push(request);
    await replies[Math.min(requests.length, replies.length) - 1]?.(response, request);
  });
  const { url, close } = await listenLocally(server);
  return { url, requests: requests as readonly ServiceRequest[], [Symbol.asyncDispose]: close };
}

export const answer =
  (status: number, body: unknown): Reply =>
  (response) =>
    response
      .writeHead(status, { 'content-type': 'application/x-amz-json-1.0' })
      .end(typeof body === 'string' ? body : JSON.stringify(body));

const { sha256 } = new DynamoDBClient({ region: 'none' }).config;

/** The `authorization` header that AWS's own signer computes for a request, over the same signed headers. */
export async function signAsSdk(
  { method = '', path = '', headers, body }: Pick<ServiceRequest, 'method' | 'path' | 'headers' | 'body'>,
  scope: { service: string; region: string; credentials: Credentials },
): Promise<string | undefined> {
  const signer = new SignatureV4({ ...scope, sha256, applyChecksum: false });
  const names = /SignedHeaders=([^,]+)/.exec(headers.authorization ?? '')?.[1]?.split(';') ?? [];
  const signed = Object.fromEntries(names.map((name) => [name, String(headers[name])]));
  const given = { method, protocol: 'https:', hostname: 'localhost', path, query: {}, headers: signed, body };
  const time = String(headers['x-amz-date']).replace(/^(....)(..)(..T..)(..)/, '$1-$2-$3:$4:');
  return (await signer.sign(given, { signingDate: new Date(time) })).headers.authorization;
}

/** CloudFormation with one stack, which has these outputs whatever its name. */
export function startFakeStack(outputs: Readonly<Record<string, string>>): Promise<FakeService> {
  const members = Object.entries(outputs).map(
    ([key, value]) => `<member><OutputKey>${key}</OutputKey><OutputValue>${value}</OutputValue></member>`,
  );
  return startFakeService((response) =>
    response
      .setHeader('content-type', 'text/xml')
      .end(
        '<DescribeStacksResponse><DescribeStacksResult><Stacks><member><StackName>Gateway</StackName>' +
          `<Outputs>${members.join('')}</Outputs></member></Stacks></DescribeStacksResult></DescribeStacksResponse>`,
      ),
  );
}
