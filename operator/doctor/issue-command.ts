import { defaultPort } from '../../local/local-settings.ts';

/** The command that issues a key with this daily limit. */
export type IssueCommand = (limit: number) => string;

/** The command that issues a key of the gateway examined, to paste: it finds a local one by its port, a deployed one by its stack. */
export const createIssueCommand =
  (base: string, stage: string | undefined): IssueCommand =>
  (limit) => {
    const { hostname, port } = new URL(base);
    const command = `npm run keys -- issue --limit ${limit}`;
    if (!/^(localhost|127\..+|\[::1\]|0\.0\.0\.0)$/.test(hostname)) {
      return `${command} --stack ${stage === undefined ? 'NAME' : `InferenceGateway-${stage}`}`;
    }
    return port === '' || Number(port) === defaultPort ? command : `PORT=${port} ${command}`;
  };
