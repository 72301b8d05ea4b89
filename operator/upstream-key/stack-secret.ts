import { randomUUID } from 'node:crypto';
import {
  GetSecretValueCommand,
  PutSecretValueCommand,
  type SecretsManagerClient,
  UpdateSecretVersionStageCommand,
} from '@aws-sdk/client-secrets-manager';
import { CommandError } from '../command-line.ts';
import { parseMembers } from './members.ts';
import type { Store } from './store.ts';

/** The staging label of a new version until it becomes the current one. */
const draft = 'UPSTREAM_KEY_DRAFT';
const attempts = 5;
/** Secrets Manager's limit, in bytes. */
const longest = 65_536;

/**
 * The secret with a stack's upstream keys. A new version becomes current only if it replaces the version that it was made from, so
 * that concurrent changes don't overwrite each other:
 * https://docs.aws.amazon.com/secretsmanager/latest/apireference/API_UpdateSecretVersionStage.html
 */
export function createStackSecret(client: SecretsManagerClient, id: string): Store {
  const read = async () => {
    const { SecretString, VersionId } = await client.send(new GetSecretValueCommand({ SecretId: id })).catch(explain);
    if (SecretString === undefined) throw new CommandError('the secret holds bytes, not a text: put one there by hand');
    return { members: parseMembers(SecretString), version: VersionId };
  };

  /** Returns whether the new version is now the current one. */
  const replace = async (old: string | undefined, text: string): Promise<boolean> => {
    const version = randomUUID();
    const value = { SecretId: id, SecretString: text, ClientRequestToken: version, VersionStages: [draft] };
    await client.send(new PutSecretValueCommand(value)).catch((error) => explain(error, text));
    const move = { SecretId: id, VersionStage: 'AWSCURRENT', MoveToVersionId: version, RemoveFromVersionId: old };
    try {
      await client.send(new UpdateSecretVersionStageCommand(move));
      return true;
    } catch (error) {
      const { version: current } = await read();
      // It may have succeeded although the response was lost.
      if (current === version) return true;
      if (current !== old) return false;
      return explain(error);
    }
  };

  return {
    read: async () => (await read()).members,
    async edit(change) {
      for (let attempt = 1; attempt <= attempts; attempt += 1) {
        const { members, version } = await read();
        const changed = change(members);
        if (changed.members === members) return changed.outcome;
        const text = JSON.stringify(changed.members);
        if (Buffer.byteLength(text) > longest) throw new CommandError(`a secret holds ${longest} bytes at most`);
        if (await replace(version, text)) return changed.outcome;
      }
      throw new CommandError('others keep changing the secret at the same time, so nothing was changed: try again');
    },
    afterwards: 'The gateway reads it within a minute.',
  };
}

/** AWS's error may quote the request, which holds keys. */
function explain(error: unknown, secret = ''): never {
  const { name, message } = error instanceof Error ? error : new Error(String(error));
  const quotes = (secret.match(/[^\s",:{}]{4,}/g) ?? []).some((word) => message.includes(word));
  const said = quotes ? name : `${name}: ${message}`;
  const isDenied = name === 'AccessDeniedException';
  throw new CommandError(isDenied ? `${said} (docs/policies/upstream-key.json allows what this takes)` : said);
}
