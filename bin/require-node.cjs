// The npm scripts load this first, with whatever Node there is, so it is plain CommonJS. Otherwise an older Node would stumble over
// the first file of TypeScript, and any Node over the first missing package, with errors of their own.
const fs = require('node:fs');
const path = require('node:path');

function refuse(sentence) {
  console.error(sentence);
  process.exit(1);
}

if (!fs.existsSync(path.join(__dirname, '..', 'node_modules', 'node'))) {
  refuse('Run npm ci first: it installs what this needs, the right Node too.');
}
if (Number.parseInt(process.versions.node, 10) < 24) {
  refuse(
    'This needs Node 24 or newer, not ' +
      process.versions.node +
      '. npm ci installs one, and npm scripts use it: npm start, npm run keys …',
  );
}
