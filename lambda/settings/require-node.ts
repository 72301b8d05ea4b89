// The server loads this first, for a host has whatever Node there is: an older one would start, and die at a request.
if (Number.parseInt(process.versions.node, 10) < 24) {
  console.error(`This needs Node 24 or newer, not ${process.versions.node}.`);
  process.exit(1);
}
