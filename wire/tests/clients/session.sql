-- What psql does, one of each: run directly and through the proxy, the output must be the same.
\set VERBOSITY verbose
\set SHOW_CONTEXT always
drop schema if exists c cascade;
create schema c;
set search_path = c;
create table t (a int primary key, b text, c bytea, d timestamptz default '2020-01-01', e numeric);
insert into t values (1, 'it''s', '\x00ff', default, 1.5), (2, E'a\\b\n', null, default, null) returning *;
select * from t order by a; select 2; select 3 where false;
begin; update t set b = 'x' where a = 1; savepoint s; select 1/0; rollback to s; select * from t; commit;
begin; insert into t values (1, 'twice'); commit;
select * from nothing;
create table d (a int references t deferrable initially deferred);
begin; insert into d values (99); commit;
insert into d values (98);
select count(*) from d;
-- a COPY in the middle of a script
copy t from stdin;
10	ten	\\x10	2021-01-01	10
11	eleven	\N	2021-01-02	\N
\.
copy t to stdout;
copy t (a, b) from stdin;
12	twelve	too many
\.
copy (select a, b from t order by a) to stdout with (format csv, header);
select generate_series(1, 20000) as n, repeat('y', 20) as y;
begin; declare k cursor for select generate_series(1, 5); fetch 2 from k; move 1 in k; fetch all from k; commit;
do $$ begin raise notice 'a notice'; raise warning 'a warning'; end $$;
create procedure p() language plpgsql as $$ begin insert into c.t values (20); commit; insert into c.t values (21); rollback; end $$;
call p();
create function f(n int) returns setof int language sql begin atomic select n; select n + 1; end;
select f(1); select count(*) from t;
prepare q(int) as select $1 + 1; execute q(1); deallocate q; execute q(2);
set application_name = 'renamed'; show application_name;
set client_encoding = latin1; select 'é'; set client_encoding = utf8;
listen news; notify news, 'to myself'; select 'heard';
unlisten *;
;
/* nothing */;
select pg_catalog.set_config('work_mem', '123kB', false);
\lo_import /etc/hostname 'a large object'
select loid, pageno, length(data) from pg_largeobject where loid = :LASTOID and false;
\lo_unlink :LASTOID
\dt c.*
select 'select ' || n from generate_series(1, 3) n \gexec
\copy (select 1, 2) to stdout
select repeat('z', 1000000) as wide;
discard all;
drop schema c cascade;
