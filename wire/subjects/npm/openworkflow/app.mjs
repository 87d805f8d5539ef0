// openworkflow 0.10.1 on PostgreSQL: three steps, each of which writes its effect; with a child workflow
// or a signal in between. usage: node app.mjs setup|enqueue|work [steps|child|signal]
import { OpenWorkflow } from 'openworkflow';
import { BackendPostgres } from '@openworkflow/backend-postgres';
import pg from 'pg';

const url = process.env.DATABASE_URL;
const kind = process.argv[3] || 'steps';
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

// What a job is: three steps; with the second one in a child workflow; or with a signal from another workflow,
// which is sent until somebody has received it.
async function open() {
  const backend = await BackendPostgres.connect(url);
  const ow = new OpenWorkflow({ backend });
  const child = ow.defineWorkflow({ name: 'child' }, async ({ input, step }) => {
    await step.run({ name: 'step2' }, () => effect(input.job, 2));
    return { done: true };
  });
  const sender = ow.defineWorkflow({ name: 'sender' }, async ({ input, step }) => {
    await step.run({ name: 'step2' }, () => effect(input.job, 2));
    for (let i = 1; ; i++) {
      await step.sleep('pause' + i, '10s');
      const sent = await step.sendSignal({ name: 'send' + i, signal: 'go:' + input.job, data: {} });
      if (sent.workflowRunIds.length > 0) return { done: true };
    }
  });
  const job = ow.defineWorkflow({ name: 'job' }, async ({ input, step }) => {
    await step.run({ name: 'step1' }, () => effect(input.job, 1));
    if (kind === 'steps') await step.run({ name: 'step2' }, () => effect(input.job, 2));
    if (kind === 'child') await step.runWorkflow(child.workflow.spec, { job: input.job });
    if (kind === 'signal') await step.waitForSignal({ signal: 'go:' + input.job, timeout: '7d' });
    await step.run({ name: 'step3' }, () => effect(input.job, 3));
    return { done: true };
  });
  return { backend, ow, workflows: kind === 'signal' ? [job, sender] : [job] };
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
  const { workflows } = await open();
  for (const job of [1, 2]) for (const workflow of workflows) await workflow.run({ job });
  process.exit(0);
}

async function work() {
  const { ow } = await open();
  await ow.newWorker({ concurrency: 1 }).start();
}

await ({ setup, enqueue, work })[process.argv[2]]();
