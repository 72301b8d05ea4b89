import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import type { Template } from '../../lib/diff/template.ts';
import { makeFolder } from '../checkout.ts';

const run = promisify(execFile);

/** The part of a cloud assembly's manifest that is read here. */
interface Artifact {
  readonly properties?: {
    readonly templateFile?: string;
    readonly stackName?: string;
    readonly terminationProtection?: boolean;
    readonly tags?: unknown;
  };
}

/**
 * Fixed, because they differ between deployments: the commit, and the distribution's id, without which the edge's alarms would
 * not be synthesized.
 */
export const comparable = { commit: '', distribution: 'E0000000000000' };

/** Runs a checkout's app as `cdk synth` does, and returns the templates by file name. */
export async function synthesize(root: string, stage: string): Promise<Record<string, Template>> {
  await using outdir = await makeFolder('gateway-diff-');
  const { app, context } = JSON.parse(await readFile(join(root, 'cdk.json'), 'utf8'));
  // Adds the constructs' paths, by which resources are named.
  const told = { ...context, stage, ...comparable, 'aws:cdk:enable-path-metadata': true };
  const env = {
    ...process.env,
    // `node` in cdk.json must be the Node that runs this.
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

/**
 * What a failed process printed. An uncaught error is cut to its message and location: the stack names a folder that no longer
 * exists.
 */
function faultIn(said: string, root: string): string {
  const plain = said.replaceAll(`file://${root}/`, '').replaceAll(`${root}/`, '');
  const [, fault] = /^(\w*Error\b(?:.|\n)*?)\n +at /m.exec(plain) ?? [];
  if (fault === undefined) return plain;
  const [place] = /(?<![\w/:.-])(?!node_modules)\w[\w./-]*\.[cm]?[jt]s:\d+/.exec(plain) ?? [];
  return place === undefined ? fault : `${fault} (${place})`;
}

/** Reads the templates in a folder, each with the properties of its stack that are outside the template. */
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
