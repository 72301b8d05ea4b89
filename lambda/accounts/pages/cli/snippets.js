import { createAgentSnippets } from './snippets-agents.js';
import { createEditorSnippets } from './snippets-editors.js';
import { createFrameworkSnippets } from './snippets-frameworks.js';
import { createSdkSnippets } from './snippets-sdks.js';

/**
 * The blocks to paste, by client, as this page, `npm run keys -- setup` and docs/clients.md show them.
 * @param {import('./snippet.js').Access} access
 */
export const createSnippets = (access) => snippetGroups(access).flatMap(({ members }) => members);

/**
 * The same by kind of client.
 * @param {import('./snippet.js').Access} access
 */
export const snippetGroups = (access) => [
  { title: 'curl and SDKs', members: createSdkSnippets(access) },
  { title: 'Agents in a terminal', members: createAgentSnippets(access) },
  { title: 'Agents in an editor', members: createEditorSnippets(access) },
  { title: 'Libraries for agents', members: createFrameworkSnippets(access) },
];
