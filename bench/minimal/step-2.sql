\set job random(1, 10000)
\set activity random(1, 10000)
\set guid -random(1, 10000)
WITH g AS MATERIALIZED (SELECT id FROM minimal.guid WHERE id = :guid FOR UPDATE), j AS (UPDATE minimal.job AS t SET semaphore = t.semaphore + 1 FROM g WHERE t.id = :job RETURNING (t.semaphore = 0)::int AS hit), u AS (UPDATE minimal.guid AS t SET ledger = t.ledger + 1000000000 + j.hit * 100000000000 FROM j WHERE t.id = :guid RETURNING j.hit), a AS (UPDATE minimal.activity AS t SET ledger = t.ledger + 1000000000 FROM j WHERE t.id = :activity AND t.ledger / 1000000000 % 10 = 0), m AS (INSERT INTO minimal.message (kind, job, activity) SELECT 1, :job, :activity FROM j, generate_series(1, 2)) SELECT hit FROM u;
