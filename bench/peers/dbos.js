// DBOS: a workflow of three steps; as many under way at a time as asked for, each awaited.
const { DBOS } = require('@dbos-inc/dbos-sdk');

async function main(url, jobs, concurrency, warm) {
  DBOS.setConfig({
    name: 'assay-peer', systemDatabaseUrl: url, systemDatabasePoolSize: concurrency + 4,
    logLevel: 'error', runAdminServer: false,
  });
  const job = DBOS.registerWorkflow(async (n) => {
    for (let step = 1; step <= 3; step++)
      n = await DBOS.runStep(async () => n + 1, { name: `step${step}` });
    return n;
  }, { name: 'job' });
  await DBOS.launch();
  const run = async (count) => {
    let begun = 0;
    await Promise.all(Array.from({ length: concurrency }, async () => {
      while (begun < count) {
        const n = ++begun;
        if (await job(n) !== n + 3) throw new Error('a job ended with something else');
      }
    }));
  };
  await run(warm);
  const start = performance.now();
  await run(jobs);
  return jobs / (performance.now() - start) * 1000;
}

main(process.env.PEER_URL, ...process.argv.slice(2).map(Number)).then(
  (rate) => { console.log(`jobs_per_second ${rate}`); process.exit(0); },
  (error) => { console.error(error); process.exit(1); });
