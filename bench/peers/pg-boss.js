// pg-boss: three queues, each of whose handlers sends to the next; as many jobs are sent at a time
// as asked for. It polls; twice a second is the most it allows, and what each queue takes each time
// is a batch of at most 50. That is more than are at a time with everybody else, but with 16 it would
// do nothing but wait; with more than 50 it is faster, and has the more in hand.
const PgBoss = require('pg-boss');
const BATCH = 50;

async function main(url, jobs, concurrency, warm) {
  const boss = new PgBoss({ connectionString: url, max: concurrency + 4 });
  boss.on('error', (error) => console.error(error));
  await boss.start();
  let left = 0, end;
  for (const number of [1, 2, 3]) {
    await boss.createQueue(`step${number}`);
    await boss.work(`step${number}`, { batchSize: BATCH, pollingIntervalSeconds: 0.5 },
      (batch) => Promise.all(batch.map(async (job) => {
        if (number < 3) await boss.send(`step${number + 1}`, { n: job.data.n + 1 });
        else if (--left === 0) end();
      })));
  }
  const add = async (count) => {
    let begun = 0;
    left = count;
    const all = new Promise((resolve) => { end = resolve; });
    await Promise.all(Array.from({ length: concurrency }, async () => {
      while (begun < count) await boss.send('step1', { n: ++begun });
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
