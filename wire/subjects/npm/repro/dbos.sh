#!/bin/sh
# DBOS 4.27.6: a queue's claim that was committed and whose answer was lost leaves the workflow PENDING
# in the name of an executor that lives and does not know of it; nobody runs it until that executor is
# started again. This brings about the state that such a commit leaves. Needs a scratch database in
# DATABASE_URL, psql and `npm ci --ignore-scripts` in the folder above. Prints the workflows after 60 s
# with the executor alive, and 20 s after it was started again.
set -eu
cd "$(dirname "$0")/../dbos"
ask() { psql -qAtX "$DATABASE_URL" -c "$1"; }
states() { ask "select workflow_uuid, status, executor_id from dbos.workflow_status order by 1"; }
ask 'drop schema if exists dbos cascade; drop table if exists effects'
node app.js setup steps
ASSAY_WORKER=a node app.js work steps &
worker=$!
trap 'kill $worker 2>/dev/null' EXIT
sleep 5
# The client's insert and the claim of executor a are one transaction here: a never hears of it.
psql -qAtX "$DATABASE_URL" <<'SQL'
create function claim() returns trigger language plpgsql as $$ begin
    new.status := 'PENDING'; new.executor_id := 'a'; new.application_version := '1'; return new; end $$;
create trigger claim before insert on dbos.workflow_status for each row when (new.queue_name = 'jobs') execute function claim();
SQL
node app.js enqueue steps
ask 'drop trigger claim on dbos.workflow_status; drop function claim'
sleep 60
states
kill $worker
wait $worker || :
ASSAY_WORKER=a node app.js work steps &
worker=$!
sleep 20
echo started again
states
