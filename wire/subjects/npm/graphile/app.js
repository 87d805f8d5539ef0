// graphile-worker 0.17.3: a job of three steps, each of which writes its effect and adds the next step,
// as https://worker.graphile.org/docs/tasks advises. New jobs are notified; a poll every ten minutes finds what a
// worker that died held, whose lock lapses after four hours. usage: node app.js setup|enqueue|work
const { run, runMigrations, makeWorkerUtils, Logger } = require('graphile-worker');
const { Client } = require('pg');
const connectionString = process.env.DATABASE_URL;
const silent = new Logger(() => () => {});

const step = (k) => async (payload, helpers) => {
  await helpers.query('insert into effects (job, step) values ($1, $2)', [payload.job, k]);
  if (k < 3) await helpers.addJob('step' + (k + 1), payload);
};

async function setup() {
  await runMigrations({ connectionString, logger: silent });
  const client = new Client({ connectionString });
  await client.connect();
  await client.query('create table effects (id serial, job int not null, step int not null)');
  await client.end();
}

async function enqueue() {
  const utils = await makeWorkerUtils({ connectionString, logger: silent });
  for (const job of [1, 2]) await utils.addJob('step1', { job });
  await utils.release();
}

async function work() {
  const runner = await run({
    connectionString, concurrency: 1, pollInterval: 600000, logger: silent,
    taskList: { step1: step(1), step2: step(2), step3: step(3) },
  });
  await runner.promise;
}

({ setup, enqueue, work })[process.argv[2]]().catch((error) => { console.error(error); process.exit(1); });
