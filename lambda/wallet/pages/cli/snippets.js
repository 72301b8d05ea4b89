import { createAgentSnippets } from './snippets-agents.js';
import { createEditorSnippets } from './snippets-editors.js';
import { createFrameworkSnippets } from './snippets-frameworks.js';
import { createSdkSnippets } from './snippets-sdks.js';

/**
 * The blocks to paste, by client, as this page, `npm run keys -- setup` and docs/clients.md show them.
 * @param {import('./snippet.js').Access} access
 */
export function createSnippets(access) {
  return [createSdkSnippets, createAgentSnippets, createEditorSnippets, createFrameworkSnippets].flatMap((create) =>
    create(access),
  );
}
