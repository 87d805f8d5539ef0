#!/bin/sh
# openworkflow 0.10.1: a worker that dies after it completed a child workflow and before it woke the parent
# leaves a parent that nobody wakes. Needs a scratch database in DATABASE_URL, psql and
# `npm ci --ignore-scripts` in the folder above. Prints the workflows 60 s after another worker has started,
# when all leases have lapsed.
set -eu
cd "$(dirname "$0")/../openworkflow"
ask() { psql -qAtX "$DATABASE_URL" -c "$1"; }
ask 'set client_min_messages = error; drop schema if exists openworkflow cascade; drop table if exists effects'
node app.mjs setup child
# Waking a parent waits for this lock; completing a child does not.
ask "create function hold() returns trigger language plpgsql as 'begin
    if old.workflow_name = ''job'' and new.status = old.status and new.worker_id is null and old.worker_id is null then
        perform pg_advisory_xact_lock(42); end if; return new; end';
    create trigger hold before update on openworkflow.workflow_runs for each row execute function hold()"
psql -qAtX "$DATABASE_URL" -c "select pg_advisory_lock(42); select pg_sleep(300)" >/dev/null 2>&1 &
node app.mjs enqueue child
node app.mjs work child 2>/dev/null &
worker=$!
until [ "$(ask "select count(*) from pg_stat_activity where wait_event = 'advisory'")" -gt 0 ]; do sleep 0.2; done
kill -9 $worker # the child is committed, and the parent is not woken yet
ask "select count(pg_terminate_backend(pid)) from pg_stat_activity where (wait_event = 'advisory' or query like '%pg_sleep(300)%')
    and pid <> pg_backend_pid()" >/dev/null
ask 'drop trigger hold on openworkflow.workflow_runs'
node app.mjs work child 2>/dev/null &
worker=$!
trap 'kill $worker' EXIT
sleep 60
ask 'select workflow_name, status, available_at from openworkflow.workflow_runs order by created_at'
