// graphile-worker: three tasks, each of which adds the next one's job; as many jobs are added and as
// many tasks run at a time as asked for.
const { run, makeWorkerUtils, Logger } = require('graphile-worker');

async function main(url, jobs, concurrency, warm) {
  let left = 0, end;
  const step = (number) => async (payload, helpers) => {
    if (number < 3) await helpers.addJob(`step${number + 1}`, { n: payload.n + 1 });
    else if (--left === 0) end();
  };
  await run({
    connectionString: url, concurrency, maxPoolSize: concurrency + 4, pollInterval: 200,
    noHandleSignals: true, logger: new Logger(() => () => {}),
    taskList: { step1: step(1), step2: step(2), step3: step(3) },
  });
  const utils = await makeWorkerUtils({ connectionString: url, maxPoolSize: concurrency });
  const add = async (count) => {
    let begun = 0;
    left = count;
    const all = new Promise((resolve) => { end = resolve; });
    await Promise.all(Array.from({ length: concurrency }, async () => {
      while (begun < count) await utils.addJob('step1', { n: ++begun });
    }));
    if (count > 0) await all;
  };
  await add(warm);
  const start = performance.now();
  await add(jobs);
  return jobs / (performance.now() - start) * 1000;
}

main(process.env.PEER_URL, ...process.argv.slice(2).map(Number)).then(
  (rate) => { console.log(`jobs_per_second ${rate}`); process.exit(0); },
  (error) => { console.error(error); process.exit(1); });
