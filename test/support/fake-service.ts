import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
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

/** A service with scripted replies, one per request; the last one repeats. */
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

/** The `authorization` that the SDK's own signer would give a received request. */
export async function signAsSdk(
  { method = '', path = '', headers, body }: ServiceRequest,
  { service, region, credentials }: { service: string; region: string; credentials: Credentials },
): Promise<string | undefined> {
  const { config } = new DynamoDBClient({ region, credentials });
  const { sign } = bound(
    await config.signer({ name: 'sigv4', signingName: service, signingRegion: region, properties: {} }),
  );
  const names = /SignedHeaders=([^,]+)/.exec(headers.authorization ?? '')?.[1]?.split(';') ?? [];
  const signed = Object.fromEntries(names.map((name) => [name, String(headers[name])]));
  const given = { method, protocol: 'http:', hostname: 'localhost', path, query: {}, headers: signed, body };
  const time = String(headers['x-amz-date']).replace(/^(....)(..)(..T..)(..)/, '$1-$2-$3:$4:');
  const unsignableHeaders = new Set(['x-amz-content-sha256']); // the signer would add it
  return (await sign(given, { signingDate: new Date(time), unsignableHeaders })).headers.authorization;
}

const bound = <S extends { sign: (...args: never[]) => unknown }>(signer: S) => ({
  sign: signer.sign.bind(signer) as S['sign'],
});

/** CloudFormation with one stack, which has these outputs, whatever name it is asked for. */
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
