-- The least that the protocol can be written in: keys are bigint, rows hold a ledger and nothing
-- else, foreign keys are left out. What the server itself can do with it is the limit for any store.
-- minimal.messages says how many messages are waiting.
DROP SCHEMA IF EXISTS minimal CASCADE;
CREATE SCHEMA minimal;
SET search_path = minimal;
CREATE TABLE job (id bigint PRIMARY KEY, semaphore bigint NOT NULL) WITH (fillfactor = 50);
CREATE TABLE activity (id bigint PRIMARY KEY, ledger bigint NOT NULL) WITH (fillfactor = 50);
CREATE TABLE guid (id bigint PRIMARY KEY, ledger bigint NOT NULL) WITH (fillfactor = 50);
CREATE TABLE output (guid bigint NOT NULL, value bigint NOT NULL);
CREATE TABLE message (id bigserial PRIMARY KEY, kind bigint NOT NULL, job bigint NOT NULL,
                      activity bigint NOT NULL, visible_at bigint NOT NULL DEFAULT 0)
  WITH (fillfactor = 50);
CREATE INDEX ON message (id) WHERE kind = 3;
INSERT INTO job SELECT n, 1000000 FROM generate_series(1, 10000) AS n;
INSERT INTO activity SELECT n, 101000000000 FROM generate_series(1, 10000) AS n;
INSERT INTO guid SELECT -n, 10000000001 FROM generate_series(1, 10000) AS n;
INSERT INTO message (kind, job, activity)
  SELECT 3, 1 + n % 10000, 1 + n * 7 % 10000 FROM generate_series(1, current_setting('minimal.messages')::bigint) AS n;
