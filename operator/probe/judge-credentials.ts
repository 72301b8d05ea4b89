import { type Finding, fail, note, ok } from '../examination/row.ts';
import type { CredentialsReport } from './artifact/describe-credentials.ts';
import { type AskOnce, askArtifact } from './ask.ts';

/** Where credentials come from, and whether the server can know when they expire. */
export async function judgeCredentials(ask: AskOnce): Promise<Finding> {
  const report = await askArtifact<CredentialsReport>(ask, { path: '/credentials' });
  const { variables, found, foundBy, temporary, expiresInSeconds, renewed, uptimeSeconds } = report;
  const where = `variables: ${variables.join(', ') || 'none'}`;
  if (!found) return fail(`none found; ${where}`);
  const kind = `${temporary ? 'temporary' : 'lasting'}, found by ${foundBy.join(', ') || 'the default chain'}; ${where}`;
  const age = `after ${uptimeSeconds} s${renewed ? ', renewed since the start' : ''}`;
  if (expiresInSeconds === undefined) {
    // Temporary credentials may come from the environment, where nothing renews them.
    return temporary ? note(`${kind}; their expiry is unknown; ${age}`) : ok(`${kind}; ${age}`);
  }
  return expiresInSeconds > 0
    ? ok(`${kind}; they expire in ${expiresInSeconds} s; ${age}`)
    : fail(`they have expired; ${kind}`);
}
