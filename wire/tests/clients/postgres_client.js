// postgres.js: it pipelines, sends Parse and Describe with Flush before Bind, and resolves early.
const postgres = require('postgres')

async function main () {
  const sql = postgres({ ...JSON.parse(process.argv[2]), max: 3, onnotice: () => {} })
  await sql`drop table if exists pjs`
  await sql`create table pjs (a int primary key, b text)`
  await sql.begin(async t => {
    for (let i = 0; i < 20; i++) await t`insert into pjs values (${i}, ${'x'.repeat(i)})`
  })
  console.log(await sql`select * from pjs order by a`)
  await sql.begin(async t => {
    await t`update pjs set b = 'y' where a = 1`
    await t`insert into pjs values (1, 'twice')`
  }).catch(e => console.log(e.code))
  await sql.begin(t => [t`insert into pjs values (50)`, t`insert into pjs values (51)`, t`select count(*) from pjs`])
    .then(r => console.log(r[2]))
  const many = await Promise.all([...Array(100).keys()].map(i => sql`select ${i}::int as n`))
  console.log(many.map(r => r[0].n))
  let total = 0
  await sql`select generate_series(1, 1000) as n`.cursor(100, rows => { total += rows.length })
  console.log(total)
  console.log(await sql.unsafe('select 1 as a; select 2 as b'))
  const { pipeline } = require('node:stream/promises')
  const { Readable } = require('node:stream')
  await pipeline(Readable.from(['1000\tcopied\n', '1001\tcopied\n']), await sql`copy pjs from stdin`.writable())
  let copied = ''
  for await (const chunk of await sql`copy (select a from pjs order by a) to stdout`.readable()) copied += chunk
  console.log(copied)
  await new Promise(resolve => sql.listen('pjs', resolve, () => sql.notify('pjs', 'hello'))).then(console.log)
  const big = 'z'.repeat(20000000)
  console.log((await sql`select ${big}::text as t`)[0].t === big)
  await sql.end()
}

main().catch(e => { console.error(e); process.exit(1) })
