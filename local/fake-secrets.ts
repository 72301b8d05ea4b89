import { createServer } from 'node:http';
import { json } from 'node:stream/consumers';
import { listenLocally } from './listen-locally.ts';

export interface FakeSecrets {
  /** For AWS_ENDPOINT_URL_SECRETS_MANAGER. */
  readonly url: string;
  /** The secrets by their id, an earlier version as `ID (previous)`; a test may change one at any time. */
  readonly values: Map<string, string>;
  /** The ids that were asked for, in order. */
  readonly reads: readonly string[];
  close(): Promise<void>;
}

/** The part of Secrets Manager that a reader needs: GetSecretValue. */
export async function startFakeSecrets(secrets: Readonly<Record<string, string>>): Promise<FakeSecrets> {
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
