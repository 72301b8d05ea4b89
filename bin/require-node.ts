// Each command imports this before anything else: an older Node would stumble over the first file with an error of its own.
if (Number.parseInt(process.versions.node, 10) < 24) {
  console.error(
    `This needs Node 24 or newer, not ${process.versions.node}. npm brings its own: npm start, npm run keys …`,
  );
  process.exit(1);
}

export {};
