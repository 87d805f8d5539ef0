// graphile-worker: three tasks, each of which adds the next one's job.
const { run, makeWorkerUtils, Logger } = require('graphile-worker');

async function main(url, jobs, concurrency) {
  let ended = 0, end;
  const all = new Promise((resolve) => { end = resolve; });
  const step = (number) => async (payload, helpers) => {
    if (number < 3) await helpers.addJob(`step${number + 1}`, { n: payload.n + 1 });
    else if (++ended >= jobs) end();
  };
  await run({
    connectionString: url, concurrency, maxPoolSize: concurrency + 4, pollInterval: 200,
    noHandleSignals: true, logger: new Logger(() => () => {}),
    taskList: { step1: step(1), step2: step(2), step3: step(3) },
  });
  const utils = await makeWorkerUtils({ connectionString: url });
  let begun = 0;
  const start = performance.now();
  await Promise.all(Array.from({ length: concurrency }, async () => {
    while (begun < jobs) await utils.addJob('step1', { n: ++begun });
  }));
  await all;
  return ended / (performance.now() - start) * 1000;
}

main(process.env.PEER_URL, +process.argv[2], +process.argv[3]).then(
  (rate) => { console.log(`jobs_per_second ${rate}`); process.exit(0); },
  (error) => { console.error(error); process.exit(1); });
