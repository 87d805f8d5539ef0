// DBOS 4.27.6: a workflow of three transactional steps (drizzle datasource), a queue, or a child workflow
// and a message, as https://docs.dbos.dev/typescript advises. usage: node app.js setup|enqueue|work KIND
const { DBOS, DBOSClient, WorkflowQueue } = require('@dbos-inc/dbos-sdk');
const { DrizzleDataSource } = require('@dbos-inc/drizzle-datasource');
const { Client } = require('pg');
const { sql } = require('drizzle-orm');
const url = process.env.DATABASE_URL;
const kind = process.argv[3] || 'steps';

const source = new DrizzleDataSource('app', { connectionString: url });
const queue = new WorkflowQueue('jobs');

const effect = (job, step) =>
  source.runTransaction(
    () => DrizzleDataSource.client.execute(sql`insert into effects (job, step) values (${job}, ${step})`),
    { name: 'step' + step },
  );

const child = DBOS.registerWorkflow(async (job, parent) => {
  await effect(job, 2);
  await DBOS.send(parent, { job }, 'child');
}, { name: 'child' });

const kinds = {
  steps: async (job) => { for (const k of [1, 2, 3]) await effect(job, k); },
  queue: async (job) => { for (const k of [1, 2, 3]) await effect(job, k); },
  messages: async (job) => {
    await effect(job, 1);
    await DBOS.startWorkflow(child, { workflowID: `child-${job}` })(job, DBOS.workflowID);
    const message = await DBOS.recv('child', 3600);
    if (message === null) throw new Error('the message did not come');
    await effect(job, 3);
  },
};
DBOS.registerWorkflow(kinds[kind], { name: 'job' });

async function setup() {
  const client = new Client({ connectionString: url });
  await client.connect();
  await client.query('create table effects (id serial, job int not null, step int not null)');
  await client.end();
  await DrizzleDataSource.initializeDBOSSchema({ connectionString: url });
  DBOS.setConfig({ name: 'app', systemDatabaseUrl: url, logLevel: 'error', runAdminServer: false });
  await DBOS.launch();
  await DBOS.shutdown();
  process.exit(0);
}

// A client puts workflows into the queue; whoever works takes them from there.
async function enqueue() {
  const client = await DBOSClient.create({ systemDatabaseUrl: url });
  for (const job of [1, 2]) {
    await client.enqueue({ workflowName: 'job', queueName: 'jobs', workflowID: `job-${job}` }, job);
  }
  await client.destroy();
  process.exit(0);
}

async function work() {
  DBOS.setConfig({
    name: 'app', systemDatabaseUrl: url, logLevel: 'error', runAdminServer: false,
    executorID: process.env.ASSAY_WORKER, applicationVersion: '1',
  });
  await DBOS.launch();
}

({ setup, enqueue, work })[process.argv[2]]().catch((error) => { console.error(error); process.exit(1); });
