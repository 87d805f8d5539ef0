// openworkflow 0.10.1 on PostgreSQL: three steps, each of which writes its effect; with a child workflow
// or a signal in between. usage: node app.mjs setup|enqueue|work
import { OpenWorkflow } from 'openworkflow';
import { BackendPostgres } from '@openworkflow/backend-postgres';
import pg from 'pg';

const url = process.env.DATABASE_URL;
console.warn = () => {};

async function effect(job, step) {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => {});
  await client.connect();
  try {
    await client.query('insert into effects (job, step) values ($1, $2)', [job, step]);
  } finally {
    await client.end().catch(() => {});
  }
}

async function open() {
  const backend = await BackendPostgres.connect(url);
  const ow = new OpenWorkflow({ backend });
  const steps = ow.defineWorkflow({ name: 'steps' }, async ({ input, step }) => {
    for (const k of [1, 2, 3]) await step.run({ name: 'step' + k }, () => effect(input.job, k));
    return { done: true };
  });
  return { backend, ow, steps };
}

async function setup() {
  const { backend } = await open();
  await backend.stop();
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query('create table effects (id serial, job int not null, step int not null)');
  await client.end();
  process.exit(0);
}

async function enqueue() {
  const { steps } = await open();
  for (const job of [1, 2]) await steps.run({ job });
  process.exit(0);
}

async function work() {
  const { ow } = await open();
  await ow.newWorker({ concurrency: 1 }).start();
}

await ({ setup, enqueue, work })[process.argv[2]]();
