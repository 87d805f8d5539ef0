WITH c AS (UPDATE minimal.message SET visible_at = 1 WHERE id = (SELECT id FROM minimal.message WHERE kind = 3 AND visible_at = 0 ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED) RETURNING id, job, activity), e AS (UPDATE minimal.activity AS t SET ledger = t.ledger + 1 FROM c WHERE t.id = c.activity RETURNING t.ledger), g AS (INSERT INTO minimal.guid AS t SELECT c.id, e.ledger % 100000000 FROM c, e ON CONFLICT (id) DO UPDATE SET ledger = t.ledger + 1 RETURNING ledger) SELECT c.id, c.job, c.activity FROM c, g \gset
\startpipeline
BEGIN;
WITH u AS (UPDATE minimal.guid SET ledger = ledger + 10000000000 WHERE id = :id AND ledger / 10000000000 % 10 = 0 RETURNING ledger), a AS (UPDATE minimal.activity AS t SET ledger = t.ledger + 10000000000 FROM u WHERE t.id = :activity AND t.ledger / 10000000000 % 10 = 0), o AS (INSERT INTO minimal.output SELECT :id, 7 FROM u) SELECT ledger FROM u;
WITH g AS MATERIALIZED (SELECT id FROM minimal.guid WHERE id = :id AND ledger / 1000000000 % 10 = 0 FOR UPDATE), j AS (UPDATE minimal.job AS t SET semaphore = t.semaphore + 1 FROM g WHERE t.id = :job RETURNING (t.semaphore = 0)::int AS hit), u AS (UPDATE minimal.guid AS t SET ledger = t.ledger + 1000000000 + j.hit * 100000000000 FROM j WHERE t.id = :id RETURNING j.hit), a AS (UPDATE minimal.activity AS t SET ledger = t.ledger + 1000000000 FROM j WHERE t.id = :activity AND t.ledger / 1000000000 % 10 = 0), m AS (INSERT INTO minimal.message (kind, job, activity) SELECT 1, :job, :activity FROM j, generate_series(1, 2)) SELECT hit FROM u;
DELETE FROM minimal.message WHERE id = :id;
COMMIT;
\endpipeline
