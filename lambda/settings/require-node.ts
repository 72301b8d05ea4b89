// The server imports this first. An older Node would start, and crash at the first request.
if (Number.parseInt(process.versions.node, 10) < 24) {
  console.error(`This needs Node 24 or newer, not ${process.versions.node}.`);
  process.exit(1);
}
