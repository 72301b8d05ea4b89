import { createServer } from 'node:http';
import { json } from 'node:stream/consumers';
import { listenLocally } from './listen-locally.ts';

export type FakeSecrets = Awaited<ReturnType<typeof startFakeSecrets>>;

/**
 * A fake Secrets Manager with GetSecretValue only. Values are keyed by id, and a previous version by `ID (previous)`. Tests may
 * change a value at any time, and see which were read, in order.
 */
export async function startFakeSecrets(secrets: Readonly<Record<string, string>>) {
  const values = new Map(Object.entries(secrets));
  const reads: string[] = [];
  const server = createServer(async (request, response) => {
    const { SecretId, VersionStage } = (await json(request)) as { SecretId: string; VersionStage?: string };
    const id = VersionStage === 'AWSPREVIOUS' ? `${SecretId} (previous)` : SecretId;
    const isRead = request.headers['x-amz-target'] === 'secretsmanager.GetSecretValue';
    if (isRead) reads.push(id);
    const value = isRead ? values.get(id) : undefined;
    const [status, answer] =
      value === undefined
        ? [400, { __type: 'ResourceNotFoundException', message: 'no such secret' }]
        : [200, { Name: id, SecretString: value, VersionStages: ['AWSCURRENT'] }];
    response.writeHead(status, { 'content-type': 'application/x-amz-json-1.1' }).end(JSON.stringify(answer));
  });
  return { ...(await listenLocally(server)), values, reads };
}
