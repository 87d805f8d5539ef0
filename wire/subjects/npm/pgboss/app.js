// pg-boss 10.4.2: a job writes its effect and is completed, by work() when the handler returns, or by the
// program with fetch() and complete(). usage: node app.js setup|enqueue|work|fetch
const PgBoss = require('pg-boss');
const { Client } = require('pg');
const connectionString = process.env.DATABASE_URL;

async function open() {
  const boss = new PgBoss(connectionString);
  boss.on('error', (error) => console.error(error.message));
  await boss.start();
  return boss;
}

async function setup() {
  const boss = await open();
  await boss.createQueue('jobs', { retryLimit: 5 });
  await boss.stop({ graceful: false });
  const client = new Client({ connectionString });
  await client.connect();
  await client.query('create table effects (id serial, job int not null)');
  await client.end();
  process.exit(0);
}

async function enqueue() {
  const boss = await open();
  for (const job of [1, 2]) await boss.send('jobs', { job }, { expireInSeconds: 60 });
  process.exit(0);
}

const effect = (boss, job) =>
  boss.getDb().executeSql('insert into effects (job) values ($1)', [job.data.job]);

async function work() {
  const boss = await open();
  await boss.work('jobs', { pollingIntervalSeconds: 2 }, async ([job]) => { await effect(boss, job); });
}

async function fetch() {
  const boss = await open();
  for (;;) {
    try {
      const [job] = await boss.fetch('jobs');
      if (job) {
        await effect(boss, job);
        await boss.complete('jobs', job.id);
        continue;
      }
    } catch (error) {
      console.error(error.message);
    }
    await new Promise((resolve) => setTimeout(resolve, 2000));
  }
}

({ setup, enqueue, work, fetch })[process.argv[2]]().catch((error) => { console.error(error); process.exit(1); });
