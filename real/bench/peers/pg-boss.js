// pg-boss: three queues, each of whose handlers sends to the next. It polls; twice a second is the
// most it allows, and what it takes each time is a batch.
const PgBoss = require('pg-boss');
const BATCH = 50;

async function main(url, jobs, concurrency) {
  const boss = new PgBoss({ connectionString: url, max: concurrency + 4 });
  boss.on('error', (error) => console.error(error));
  await boss.start();
  let ended = 0, end;
  const all = new Promise((resolve) => { end = resolve; });
  for (const number of [1, 2, 3]) {
    await boss.createQueue(`step${number}`);
    await boss.work(`step${number}`, { batchSize: BATCH, pollingIntervalSeconds: 0.5 },
      (batch) => Promise.all(batch.map(async (job) => {
        if (number < 3) await boss.send(`step${number + 1}`, { n: job.data.n + 1 });
        else if (++ended >= jobs) end();
      })));
  }
  let begun = 0;
  const start = performance.now();
  await Promise.all(Array.from({ length: concurrency }, async () => {
    while (begun < jobs) await boss.send('step1', { n: ++begun });
  }));
  await all;
  return ended / (performance.now() - start) * 1000;
}

main(process.env.PEER_URL, +process.argv[2], +process.argv[3]).then(
  (rate) => { console.log(`jobs_per_second ${rate}`); process.exit(0); },
  (error) => { console.error(error); process.exit(1); });
