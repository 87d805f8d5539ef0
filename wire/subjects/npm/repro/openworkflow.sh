#!/bin/sh
# openworkflow 0.10.1: a connection that is lost while the worker writes a step's bookkeeping makes the
# whole workflow fail for good, though the worker lives and could go on. Needs a scratch database in
# DATABASE_URL, psql and `npm ci --ignore-scripts` in the folder above. Prints how the workflows ended.
set -eu
cd "$(dirname "$0")/../openworkflow"
ask() { psql -qAtX "$DATABASE_URL" -c "$1"; }
ask 'set client_min_messages = error; drop schema if exists openworkflow cascade; drop table if exists effects'
node app.mjs setup
node app.mjs enqueue
# The worker's insert into step_attempts waits for this lock, and is then cut off.
psql -qAtX "$DATABASE_URL" -c "begin; lock table openworkflow.step_attempts; select pg_sleep(60)" >/dev/null 2>&1 &
sleep 1
node app.mjs work 2>/dev/null &
worker=$!
trap 'kill $worker' EXIT
until [ "$(ask "select count(pg_terminate_backend(pid)) from pg_stat_activity
    where query like '%step_attempts%' and wait_event_type = 'Lock'")" -gt 0 ]; do sleep 0.2; done
ask "select pg_terminate_backend(pid) from pg_stat_activity where query like '%lock table%' and pid <> pg_backend_pid()" >/dev/null
sleep 15
ask "select status, error->>'message' from openworkflow.workflow_runs order by created_at"
