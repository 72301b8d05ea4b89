// The npm scripts preload this in whatever Node is installed, so it is plain CommonJS. Without it, an older Node would fail on
// the first TypeScript file, and any Node on the first missing package, with an obscure error.
const fs = require('node:fs');
const path = require('node:path');

function refuse(sentence) {
  console.error(sentence);
  process.exit(1);
}

if (!fs.existsSync(path.join(__dirname, '..', 'node_modules', '.package-lock.json'))) {
  refuse('Run npm ci first: it installs what this needs, on Linux also the right Node.');
}
if (Number.parseInt(process.versions.node, 10) < 24) {
  refuse(
    'This needs Node 24 or newer, not ' +
      process.versions.node +
      '. On Linux npm ci installs one, and npm scripts use it: npm start, npm run keys …',
  );
}

// From the second start on, no thread has to strip types and compile again: it takes half the time and 35 MB less.
require('node:module').enableCompileCache(path.join(__dirname, '..', 'node_modules', '.cache', 'node'));
