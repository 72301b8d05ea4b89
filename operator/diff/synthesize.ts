import { execFile } from 'node:child_process';
import { mkdtempDisposable, readdir, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import type { Template } from '../../lib/diff/template.ts';

const run = promisify(execFile);

interface Manifest {
  readonly artifacts: Readonly<Record<string, { readonly properties?: StackProperties }>>;
}

interface StackProperties {
  readonly templateFile?: string;
  readonly stackName?: string;
  readonly terminationProtection?: boolean;
  readonly tags?: unknown;
}

/** What always differs from one deployment to the next: no commit, and an edge whose alarms are synthesized as well. */
export const comparable = ['--context', 'commit=', '--context', 'distribution=E0000000000000'];

/** Runs `cdk synth` in a checkout, offline, and returns the templates by their file names. */
export async function synthesize(root: string, stage: string): Promise<Record<string, Template>> {
  await using outdir = await mkdtempDisposable(join(tmpdir(), 'gateway-diff-'));
  const cdk = join(root, 'node_modules/aws-cdk/bin/cdk');
  // `node` in cdk.json must be the Node that runs now.
  const PATH = `${dirname(process.execPath)}${delimiter}${process.env.PATH}`;
  const context = ['--context', `stage=${stage}`, ...comparable];
  await run(process.execPath, [cdk, 'synth', '--quiet', ...context, '--output', outdir.path], {
    cwd: root,
    // The deployment validates templates. Here that would take longer than everything else.
    env: { ...process.env, PATH, CDK_VALIDATION: 'false' },
  });
  return await readTemplates(outdir.path);
}

export async function readTemplates(outdir: string): Promise<Record<string, Template>> {
  const { artifacts }: Manifest = JSON.parse(await readFile(join(outdir, 'manifest.json'), 'utf8'));
  const stacks = Object.entries(artifacts).map(([id, { properties }]) => ({ stackName: id, ...properties }));
  const files = (await readdir(outdir)).filter((file) => file.endsWith('.template.json'));
  const templates = files.map(async (file) => {
    const {
      stackName: name = '',
      terminationProtection = false,
      tags = {},
    } = stacks.find(({ templateFile }) => templateFile === file) ?? {};
    const template: Template = JSON.parse(await readFile(join(outdir, file), 'utf8'));
    return [file, { ...template, Stack: { name, terminationProtection, tags } }] as const;
  });
  return Object.fromEntries(await Promise.all(templates));
}
