import { createServer } from 'node:http';
import { json } from 'node:stream/consumers';
import { listenLocally } from '../../local/listen-locally.ts';

interface Input {
  readonly SecretId: string;
  readonly SecretString?: string;
  readonly ClientRequestToken?: string;
  readonly VersionStage?: string;
  readonly VersionStages?: readonly string[];
  readonly MoveToVersionId?: string;
  readonly RemoveFromVersionId?: string;
}

type Answer = readonly [status: number, body: object];
type Operation = 'GetSecretValue' | 'PutSecretValue' | 'UpdateSecretVersionStage';

const refusal = (name: string, message: string): Answer => [400, { __type: name, Message: message }];

/**
 * A Secrets Manager secret with versions and staging labels, as AWS documents these operations. A label is attached to one
 * version, and can be moved only by naming that version:
 * https://docs.aws.amazon.com/secretsmanager/latest/apireference/API_UpdateSecretVersionStage.html
 */
export async function startVersionedSecret(id: string, first: string) {
  const texts = new Map([['first-version', first]]);
  const labels = new Map([['AWSCURRENT', 'first-version']]);
  const operations: Operation[] = [];
  /** Runs before an operation, and may replace it. */
  const hooks = new Map<Operation, (input: Input) => Answer | undefined>();

  const moveLabel = (label: string, version: string) => {
    const old = labels.get(label);
    if (label === 'AWSCURRENT' && old !== undefined && old !== version) labels.set('AWSPREVIOUS', old);
    labels.set(label, version);
  };
  const put = (version: string, text: string, stages: readonly string[] = ['AWSCURRENT']): Answer => {
    if (texts.has(version) && texts.get(version) !== text) return refusal('ResourceExistsException', 'there is one');
    texts.set(version, text);
    for (const stage of stages) moveLabel(stage, version);
    return [200, { VersionId: version }];
  };
  const move = ({ VersionStage = '', MoveToVersionId = '', RemoveFromVersionId }: Input): Answer => {
    const holder = labels.get(VersionStage);
    if (holder !== RemoveFromVersionId) {
      return refusal(
        'InvalidParameterException',
        `The parameter RemoveFromVersionId can't be ${RemoveFromVersionId}. Staging label ${VersionStage} is currently attached to version ${holder}`,
      );
    }
    moveLabel(VersionStage, MoveToVersionId);
    return [200, {}];
  };
  const carryOut: Readonly<Record<Operation, (input: Input) => Answer>> = {
    GetSecretValue: ({ VersionStage = 'AWSCURRENT' }) => {
      const version = labels.get(VersionStage) ?? '';
      return [200, { Name: id, VersionId: version, SecretString: texts.get(version) }];
    },
    PutSecretValue: ({ ClientRequestToken = '', SecretString = '', VersionStages }) =>
      put(ClientRequestToken, SecretString, VersionStages),
    UpdateSecretVersionStage: move,
  };

  const server = createServer(async (request, response) => {
    const input = (await json(request)) as Input;
    const operation = String(request.headers['x-amz-target']).replace('secretsmanager.', '') as Operation;
    operations.push(operation);
    const [status, body] =
      input.SecretId === id
        ? (hooks.get(operation)?.(input) ?? carryOut[operation](input))
        : refusal('ResourceNotFoundException', "Secrets Manager can't find the specified secret.");
    response.writeHead(status, { 'content-type': 'application/x-amz-json-1.1' }).end(JSON.stringify(body));
  });
  const { url, close } = await listenLocally(server);
  return {
    url,
    operations,
    hooks,
    /** The value that the gateway would read now. */
    current: () => texts.get(labels.get('AWSCURRENT') ?? ''),
    previous: () => texts.get(labels.get('AWSPREVIOUS') ?? ''),
    /** As a person does with the AWS CLI. */
    putByHand: (text: string) => put(`by-hand-${texts.size}`, text),
    carryOut,
    [Symbol.asyncDispose]: close,
  };
}
