// node-postgres: simple and extended queries, names, transactions, errors, cursors, notifications.
const { Client, Pool } = require('pg')
const Cursor = require('pg-cursor')

async function main () {
  const connection = JSON.parse(process.argv[2])
  const client = new Client(connection)
  await client.connect()
  await client.query('drop table if exists njs; create table njs (a int primary key, b text)')
  for (let i = 0; i < 20; i++) {
    await client.query({ name: 'add', text: 'insert into njs values ($1, $2)', values: [i, 'x'.repeat(i)] })
  }
  console.log((await client.query('select * from njs order by a')).rows)
  const several = await client.query('select 1 as a; select 2 as b')
  console.log(several.map(r => r.rows))
  await client.query('BEGIN')
  await client.query('update njs set b = $1 where a = $2', ['y', 3])
  await client.query('insert into njs values ($1)', [3]).catch(e => console.log(e.code))
  await client.query('select 1').catch(e => console.log(e.code))
  console.log((await client.query('COMMIT')).command)
  const all = await Promise.all([...Array(50).keys()].map(i => client.query('select $1::int as n', [i])))
  console.log(all.map(r => r.rows[0].n))
  const cursor = client.query(new Cursor('select generate_series(1, 100) as n'))
  console.log((await cursor.read(3)).length, (await cursor.read(200)).length)
  await cursor.close()
  const heard = new Promise(resolve => client.once('notification', resolve))
  await client.query('listen njs')
  await client.query("notify njs, 'hello'")
  console.log((await heard).payload)
  const big = 'z'.repeat(20000000)
  console.log((await client.query('select $1::text as t', [big])).rows[0].t === big)
  await client.end()
  const pool = new Pool({ ...connection, max: 4 })
  const sums = await Promise.all([...Array(40).keys()].map(i => pool.query('select $1::int + 1 as n', [i])))
  console.log(sums.reduce((total, r) => total + r.rows[0].n, 0))
  await pool.end()
}

main().catch(e => { console.error(e); process.exit(1) })
