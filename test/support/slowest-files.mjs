/** Reports at the end which test files took longest, so that you know where to look for time. */
export default class SlowestFiles {
  onRunComplete(_contexts, { testResults }) {
    if (testResults.length < 20) return;
    const files = testResults.map(({ testFilePath, perfStats }) => ({
      path: testFilePath.slice(testFilePath.indexOf('/test/') + 1),
      seconds: (perfStats.end - perfStats.start) / 1000,
    }));
    files.sort((a, b) => b.seconds - a.seconds);
    const lines = files.slice(0, 10).map(({ path, seconds }) => `${seconds.toFixed(1).padStart(6)} s  ${path}`);
    process.stderr.write(`\nThe ten slowest of ${files.length} files:\n${lines.join('\n')}\n`);
  }
}
