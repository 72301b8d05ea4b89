import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import type { Template } from '../../lib/diff/template.ts';
import { makeFolder } from '../checkout.ts';

const run = promisify(execFile);

/** What a stack is, as far as it matters here. */
interface Artifact {
  readonly properties?: {
    readonly templateFile?: string;
    readonly stackName?: string;
    readonly terminationProtection?: boolean;
    readonly tags?: unknown;
  };
}

/** What always differs from one deployment to the next: no commit, and an edge whose alarms are synthesized as well. */
export const comparable = { commit: '', distribution: 'E0000000000000' };

/** Runs a checkout's app as `cdk synth` does, and returns the templates by their file names. */
export async function synthesize(root: string, stage: string): Promise<Record<string, Template>> {
  await using outdir = await makeFolder('gateway-diff-');
  const { app, context } = JSON.parse(await readFile(join(root, 'cdk.json'), 'utf8'));
  // The constructs' paths are their names.
  const told = { ...context, stage, ...comparable, 'aws:cdk:enable-path-metadata': true };
  const env = {
    ...process.env,
    // `node` in cdk.json must be the Node that runs now.
    PATH: `${dirname(process.execPath)}${delimiter}${process.env.PATH}`,
    CDK_OUTDIR: outdir.path,
    CDK_CONTEXT_JSON: JSON.stringify(told),
    // The deployment validates templates. Here that would take longer than everything else.
    CDK_VALIDATION: 'false',
  };
  await run('sh', ['-c', app], { cwd: root, env }).catch((error: { stderr?: string; message: string }) => {
    throw new Error(faultIn(error.stderr?.trim() || error.message, root));
  });
  return await readTemplates(outdir.path);
}

/** What a program that failed has said; of an uncaught error that and its place, without a stack or a folder that is gone by now. */
function faultIn(said: string, root: string): string {
  const plain = said.replaceAll(`file://${root}/`, '').replaceAll(`${root}/`, '');
  const [, fault] = /^(\w*Error\b(?:.|\n)*?)\n +at /m.exec(plain) ?? [];
  if (fault === undefined) return plain;
  const [place] = /(?<![\w/:.-])(?!node_modules)\w[\w./-]*\.[cm]?[jt]s:\d+/.exec(plain) ?? [];
  return place === undefined ? fault : `${fault} (${place})`;
}

/** Reads the templates in a folder, each with what its stack is told besides. */
export async function readTemplates(outdir: string): Promise<Record<string, Template>> {
  const read = async (name: string) => JSON.parse(await readFile(join(outdir, name), 'utf8'));
  const { artifacts }: { artifacts: Readonly<Record<string, Artifact>> } = await read('manifest.json');
  const entries = Object.entries(artifacts).map(async ([id, { properties = {} }]) => {
    const { templateFile, stackName: name = id, terminationProtection = false, tags = {} } = properties;
    if (templateFile === undefined) return [];
    const Stack = { name, terminationProtection, tags };
    return [[templateFile, { ...(await read(templateFile)), Stack }] as const];
  });
  return Object.fromEntries((await Promise.all(entries)).flat());
}
