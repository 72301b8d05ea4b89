import type { IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { SignatureV4 } from '@smithy/signature-v4';
import type { Credentials } from '../../lambda/aws/access.ts';
import { answerPrompt, splitTokens } from '../../local/demo/answer.ts';
import { speakerAt } from '../../local/upstream/index.ts';
import { json, type Script, sse } from '../../local/upstream/script.ts';
import { startUpstream } from '../../local/upstream/server.ts';

interface Account {
  readonly region: string;
  /** By whose credentials tokens may be signed. */
  readonly roles: readonly Role[];
  readonly now: () => number;
  /** Whether answers quote the token. */
  readonly tells?: boolean;
}

interface Role {
  readonly credentials: Credentials;
  /** The model ids that it may call. */
  readonly models: readonly string[];
}

/** The model ids that exist. */
const known = ['us.anthropic.claude-sonnet-5', 'openai.gpt-oss-120b-1:0'];

/** What AWS answers: github.com/anomalyco/opencode/issues/47073 and https://repost.aws/knowledge-center/bedrock-invokemodel-api-error. */
export const awsSays = {
  invalid: [403, { Message: 'Authentication failed: Please make sure your API Key is valid.' }],
  expired: [403, { Message: 'Bearer Token has expired' }],
  unknownModel: [400, { message: 'The provided model identifier is invalid.' }],
  noAccess: [403, { message: "You don't have access to the model with the specified model ID." }],
  noSubscription: [
    403,
    {
      message:
        'Model access is denied due to IAM user or service role is not authorized to perform the required AWS Marketplace actions (aws-marketplace:ViewSubscriptions, aws-marketplace:Subscribe) to enable access to this model.',
    },
  ],
  noForm: [404, { message: 'Model use case details have not been submitted for this account.' }],
  profileOnly: [
    400,
    {
      message:
        'Invocation of model ID anthropic.claude-sonnet-5 with on-demand throughput isn’t supported. Retry your request with the ID or ARN of an inference profile that contains this model.',
    },
  ],
  noRight: [
    403,
    {
      message:
        'User: arn:aws:sts::123456789012:assumed-role/gateway/i is not authorized to perform: bedrock:InvokeModel on resource: arn:aws:bedrock:us-east-1::foundation-model/m',
    },
  ],
  unauthorized: [401, { error: { type: 'authentication_error', message: 'Invalid bearer token' } }],
} as const satisfies Record<string, readonly [status: number, body: object]>;

export type Refusal = keyof typeof awsSays;

export interface SeenByBedrock {
  readonly path: string | undefined;
  readonly headers: IncomingMessage['headers'];
  readonly body: Readonly<Record<string, unknown>>;
}

/** The `bedrock-runtime` endpoint in one region. Checks the signature, the scope and the age of each request's token. */
export async function startFakeBedrock({ region, roles, now, tells = false }: Account) {
  const seen: SeenByBedrock[] = [];
  /** Answers to the first requests, instead of checking them. */
  const next: Refusal[] = [];
  const refuse = (refusal: Refusal): Script => {
    const [status, body] = awsSays[refusal];
    return json(status, body);
  };
  const server = await startUpstream(async ({ message }) => {
    const body = JSON.parse(await text(message));
    seen.push({ path: message.url, headers: message.headers, body });
    const scripted = next.shift();
    if (scripted) return refuse(scripted);
    const token = /^Bearer (\S+)$/.exec(message.headers.authorization ?? '')?.[1] ?? '';
    const role = await roleOf(token, region, roles);
    if (role === undefined) return refuse('invalid');
    if (endOf(token) <= now()) return refuse('expired');
    if (!known.includes(body.model)) return refuse('unknownModel');
    if (!role.models.includes(body.model)) return refuse('noRight');
    const path = (message.url ?? '').replace(/^\/(anthropic|openai)/, '');
    const speaker = speakerAt(path);
    if (!speaker) return json(404, { message: `there is no ${path}` });
    const given = answerPrompt(speaker.read(body));
    const said = { kind: 'text', pieces: splitTokens(`it is ${token} .`) };
    const answer = tells ? { ...given, parts: [said] } : given;
    const reply = { answer, body, model: body.model, id: '1', created: 0 };
    return body.stream === true ? sse(speaker.events(reply)) : json(200, speaker.whole(reply));
  });
  return {
    ...server,
    origin: new URL(server.url).origin,
    seen: seen as readonly SeenByBedrock[],
    next,
    [Symbol.asyncDispose]: server.close,
  };
}

const parametersOf = (token: string): URLSearchParams =>
  new URL(`https://${Buffer.from(token.replace(/^bedrock-api-key-/, ''), 'base64')}`).searchParams;

/** In milliseconds. */
const dateOf = (parameters: URLSearchParams): number =>
  Date.parse((parameters.get('X-Amz-Date') ?? '').replace(/^(....)(..)(..T..)(..)/, '$1-$2-$3:$4:'));

function endOf(token: string): number {
  const parameters = parametersOf(token);
  return dateOf(parameters) + Number(parameters.get('X-Amz-Expires')) * 1000;
}

const { sha256 } = new DynamoDBClient({ region: 'none' }).config;

/** The role that signed a token, by AWS's own signer. Undefined if none did, or for another region. */
async function roleOf(token: string, region: string, roles: readonly Role[]): Promise<Role | undefined> {
  if (!token.startsWith('bedrock-api-key-')) return undefined;
  const parameters = parametersOf(token);
  const [keyId] = (parameters.get('X-Amz-Credential') ?? '').split('/');
  const role = roles.find(({ credentials }) => credentials.accessKeyId === keyId);
  if (role === undefined) return undefined;
  const signer = new SignatureV4({ service: 'bedrock', region, credentials: role.credentials, sha256 });
  const hostname = 'bedrock.amazonaws.com';
  const request = { method: 'POST', protocol: 'https:', hostname, headers: { host: hostname }, path: '/' };
  const { query = {} } = await signer.presign(
    { ...request, query: { Action: 'CallWithBearerToken' } },
    { signingDate: new Date(dateOf(parameters)), expiresIn: Number(parameters.get('X-Amz-Expires')) },
  );
  return Object.entries(query).every(([name, value]) => parameters.get(name) === value) ? role : undefined;
}
