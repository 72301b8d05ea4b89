import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';

/** A function as CloudFormation would create it. */
export interface SynthesizedFunction {
  /** The folder that would be uploaded. */
  readonly folder: string;
  readonly handler: string;
  readonly memorySize: number;
  readonly timeoutMs: number;
  /** References that only a deployment can resolve are replaced by their logical names. */
  readonly environment: Readonly<Record<string, string>>;
}

interface FunctionProperties {
  readonly Code: { readonly S3Key: string };
  readonly Handler: string;
  readonly MemorySize: number;
  readonly Timeout: number;
  readonly Environment: { readonly Variables: Readonly<Record<string, string | { readonly Ref: string }>> };
}

interface Template {
  readonly Resources: Readonly<Record<string, { readonly Type: string; readonly Properties: FunctionProperties }>>;
}

const root = join(import.meta.dirname, '../..');

/** Runs `cdk synth` as an operator would, into its own folder. It needs no network. */
export async function synthesize() {
  const folder = await mkdtemp(join(tmpdir(), 'gateway-cdk-'));
  const { stdout, stderr } = await promisify(execFile)(
    process.execPath,
    [join(root, 'node_modules/aws-cdk/bin/cdk'), 'synth', '--quiet', '--output', folder],
    {
      cwd: root,
      // The stack's own test validates the template.
      env: {
        ...process.env,
        PATH: dirname(process.execPath) + delimiter + process.env.PATH,
        CDK_VALIDATION: 'false',
        https_proxy: 'http://127.0.0.1:9',
      },
    },
  );
  const template: Template = JSON.parse(await readFile(join(folder, 'InferenceGateway.template.json'), 'utf8'));
  const functions = Object.values(template.Resources).filter(({ Type }) => Type === 'AWS::Lambda::Function');
  const [properties] = functions.map(({ Properties }) => Properties);
  if (!properties) throw new Error('the template has no function');
  const variables = Object.entries(properties.Environment.Variables);
  return {
    output: stdout + stderr,
    gateway: {
      folder: join(folder, `asset.${properties.Code.S3Key.replace(/\.zip$/, '')}`),
      handler: properties.Handler,
      memorySize: properties.MemorySize,
      timeoutMs: properties.Timeout * 1000,
      environment: Object.fromEntries(
        variables.map(([name, value]) => [name, typeof value === 'string' ? value : value.Ref]),
      ),
    },
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  };
}
