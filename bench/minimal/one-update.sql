\set activity random(1, 10000)
UPDATE minimal.activity SET ledger = ledger + 1 WHERE id = :activity RETURNING ledger;
