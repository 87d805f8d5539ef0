#!/bin/sh
# Proves that clients get through the proxy, row for row, what they get without it. Each client runs
# directly, through a proxy that only passes, and through one that tells and waits for every commit;
# what they print must be the same. Status 77 and a reason if a program is missing.
#
# usage: clients.sh PASSING FOLDER [CLIENT...]   FOLDER keeps the drivers that npm fetched
set -u
source=$(dirname "$(readlink -f "$0")")
passing=$1 folder=$2
shift 2
scratch=$(mktemp -d)
proxies=
trap 'exec 3>&- 4>&-; wait $proxies; rm -rf "$scratch"' EXIT
trap 'exit 1' INT TERM
cd "$scratch" || exit 1
PGUSER=assay PGDATABASE=postgres PGCONNECT_TIMEOUT=60
export PGUSER PGDATABASE PGCONNECT_TIMEOUT
status=0 compared=0 missing=

fail() {
    echo "FAILED: $1"
    status=1
}
lacks() {
    echo "SKIPPED: clients: $1"
    missing=1
}
for program in psql pg_dump pg_restore; do
    command -v $program >/dev/null || { lacks "there is no $program" && exit 77; }
done
pgbench=$(command -v pgbench || ls /usr/lib/postgresql/*/bin/pgbench 2>/dev/null | tail -n 1)

# ---- one server, two proxies: the first owns the server, the second tells ----
mkdir plain told
mkfifo in3 in4
"$passing" - "$scratch/plain/.s.PGSQL.5432" --tcp 0 --tls "$scratch" <in3 >plain.out 2>plain.err &
first=$!
proxies=$first
exec 3>in3
until [ -s plain.out ]; do
    kill -0 $first 2>/dev/null || { cat plain.err; wait $first; exit $?; }
    sleep 0.1
done
read -r _ port direct <plain.out
"$passing" "$direct/.s.PGSQL.5432" "$scratch/told/.s.PGSQL.5432" --tcp 0 --tls "$scratch/told" \
    --record "$scratch/record" <in4 >told.out 2>told.err &
second=$!
proxies="$second $first"
exec 4>in4
until [ -s told.out ]; do sleep 0.1; done
read -r _ told_port _ <told.out

# ---- comparing ----
# same NAME COMMAND...: runs the command with $host and $port of each way in turn.
same() {
    name=$1
    shift
    for way in direct plain told; do
        case $way in
        direct) host=$direct ;;
        *) host=$scratch/$way ;;
        esac
        "$@" >"$way.$name" 2>&1 || fail "$name, $way: status $?: $(tail -n 3 "$way.$name")"
    done
    for way in plain told; do
        cmp -s "direct.$name" "$way.$name" || {
            diff "direct.$name" "$way.$name" | head -n 20
            fail "$name: $way prints something else"
        }
    done
    [ -s "direct.$name" ] || fail "$name prints nothing"
    compared=$((compared + 2))
}

run_session() {
    psql -h "$host" -X -a -f "$source/session.sql" 2>&1 |
        sed -e 's/PID [0-9]*/PID N/' -e 's/^\(lo_[a-z]*\) [0-9]*/\1 N/'
}
run_single() { psql -h "$host" -X -At -c 'select 1; select 2' -c 'begin; select 3' -c 'select 4/0'; true; }
# (TS1)
run_tls() { # by TCP; directly there is only the socket
    case $way in
    direct) psql -X -At -h "$host" -c 'select 1, current_user' ;;
    *)
        [ $way = plain ] && p=$port c=$scratch/ca.pem || p=$told_port c=$scratch/told/ca.pem
        for mode in disable require verify-full; do
            psql -X -At "host=localhost hostaddr=127.0.0.1 port=$p sslmode=$mode sslrootcert=$c" \
                -c 'select 1, current_user' >tls || return 1
            psql -X "host=localhost hostaddr=127.0.0.1 port=$p sslmode=$mode sslrootcert=$c" \
                -c '\conninfo' | grep -c 'SSL connection' >ssl
            case $mode:$(cat ssl) in disable:0 | require:1 | verify-full:1) ;; *) return 1 ;; esac
        done
        PGSSLMODE=require psql -X -At -h 127.0.0.1 -p "$p" -c "select repeat('x', 30000000)" |
            md5sum | grep -q "$(head -c 30000000 /dev/zero | tr '\0' x | sed '$s/$/\n/' | md5sum | cut -c 1-32)" ||
            return 1
        cat tls
        ;;
    esac
}
run_dump() {
    psql -h "$direct" -X -q -c 'drop schema if exists du cascade; create schema du' \
        -c 'create table du.a as select n, md5(n::text) from generate_series(1, 20000) n' \
        -c 'alter table du.a add primary key (n)' -c 'create view du.v as select count(*) from du.a' \
        2>/dev/null
    pg_dump -h "$host" -n du | grep -v restrict # which is drawn by chance
    pg_dump -h "$host" -n du --inserts | grep -v restrict | md5sum
    pg_dump -h "$host" -n du -Fc -f dump.custom && pg_dump -h "$host" -n du -Fd -j 2 -f dump.folder
    for dump in dump.custom dump.folder; do
        psql -h "$direct" -X -q -c 'drop schema du cascade' 2>/dev/null
        pg_restore -h "$host" -d postgres -j 2 $dump || return 1
        psql -h "$host" -X -At -c 'select count(*), sum(n), max(md5) from du.a' -c 'table du.v'
    done
    rm -rf dump.custom dump.folder
}
run_copy() {
    psql -h "$host" -X -q -c 'drop table if exists co' -c 'create table co (a int, b text)' 2>/dev/null
    seq 1 200000 | sed 's/$/\tsome text/' | psql -h "$host" -X -c 'copy co from stdin'
    psql -h "$host" -X -c 'copy co to stdout' | md5sum
    psql -h "$host" -X -c 'copy co to stdout (format binary)' >binary
    psql -h "$host" -X -c 'copy co from stdin (format binary)' <binary
    printf '1\tx\nbad\tx\n' | psql -h "$host" -X -c 'copy co from stdin' 2>&1
    psql -h "$host" -X -At -c 'select count(*), sum(a) from co'
}
# (LK1)
run_large() { # a row of 100 MB, in and out
    psql -h "$host" -X -q -c 'drop table if exists la' -c 'create table la (b text)' 2>/dev/null
    head -c 100000000 /dev/zero | tr '\0' x | psql -h "$host" -X -c 'copy la from stdin'
    psql -h "$host" -X -At -c 'select b from la' | md5sum
    psql -h "$host" -X -At -c 'select length(b), md5(b) from la'
}
run_pgbench() {
    "$pgbench" -h "$host" -i -s 1 -q >/dev/null 2>&1
    for mode in simple extended prepared; do
        "$pgbench" -h "$host" -n -M $mode -c 1 -t 100 --random-seed 7 | grep -E 'processed|failed'
    done
    printf '\\startpipeline\nselect 1;\nselect 2;\n\\endpipeline\n' >pipeline.sql
    "$pgbench" -h "$host" -n -M extended -c 2 -t 50 -f pipeline.sql | grep -E 'processed|failed'
    psql -h "$host" -X -At -c 'select md5(string_agg(a::text, $$,$$ order by aid)) from pgbench_accounts a' \
        -c 'select count(*), sum(delta) from pgbench_history' -c 'select * from pgbench_tellers order by tid'
}
run_cancel() {
    psql -h "$host" -X -c 'select pg_sleep(600)' 2>&1 &
    waiting=$!
    until [ "$(psql -h "$direct" -X -At -c "select count(*) from pg_stat_activity
        where query like '%sleep(600)' and wait_event = 'PgSleep'")" = 1 ]; do sleep 0.1; done
    kill -INT $waiting
    wait $waiting
    echo "status $?"
}
run_python() { # psycopg warns on stderr, or not, as the answers happen to come
    /usr/bin/python3 "$source/$1" "host=$host" 2>python.err || { cat python.err && return 1; }
}
run_node() { (cd "$folder" && node "$1" "{\"host\":\"$host\",\"user\":\"assay\",\"database\":\"postgres\"}"); }

run_jdbc() { # which knows TCP only; directly, that is a tunnel to the socket
    case $way in
    plain) p=$port ;;
    told) p=$told_port ;;
    direct) p=$tunnel ;;
    esac
    java -cp "$jar" "$source/JdbcClient.java" "$p"
}
run_pgx() { "$scratch/pgx" "$host"; }

# Drivers are fetched once; versions and hashes are in package-lock.json.
fetch() {
    mkdir -p "$folder"
    cp "$source"/*.js "$source"/package*.json "$folder/"
    cmp -s "$folder/package-lock.json" "$folder/fetched" && return 0
    (cd "$folder" && timeout 300 npm ci --ignore-scripts --no-audit --no-fund >npm.log 2>&1 &&
        cp package-lock.json fetched)
}

has_python() { /usr/bin/python3 -c "import $1" 2>/dev/null; }
wanted() { [ -z "$only" ] || case " $only " in *" $1 "*) ;; *) return 1 ;; esac; }
only=$*

for name in session single tls dump copy large cancel; do
    wanted $name && same $name run_$name
done
if wanted pgbench; then
    if [ -n "$pgbench" ]; then same pgbench run_pgbench; else lacks "there is no pgbench"; fi
fi
for module in psycopg2 psycopg; do
    wanted $module || continue
    if has_python $module; then
        same $module run_python ${module}_client.py
    else
        lacks "there is no python3-$module"
    fi
done
if wanted node; then
    if ! command -v node >/dev/null || ! command -v npm >/dev/null; then
        lacks "there is no node or no npm"
    elif ! fetch; then
        tail -n 3 "$folder/npm.log"
        lacks "npm could not fetch pg and postgres"
    else
        same pg run_node pg_client.js
        same postgres run_node postgres_client.js
    fi
fi

# Java and Go are large, and so part of ./test --full only.
if [ -n "${ASSAY_FULL:-}" ] || [ -n "$only" ]; then
    jar=/usr/share/java/postgresql.jar
    if wanted jdbc && { ! command -v java >/dev/null || ! [ -f $jar ]; }; then
        lacks "there is no java or no libpostgresql-jdbc-java"
    elif wanted jdbc; then
        mkfifo in5
        /usr/bin/python3 "$source/tunnel.py" "$direct/.s.PGSQL.5432" <in5 >tunnel.out &
        exec 5>in5
        until [ -s tunnel.out ]; do sleep 0.1; done
        read -r tunnel <tunnel.out
        same jdbc run_jdbc
        exec 5>&-
    fi
    gocode=/usr/share/gocode
    if wanted pgx && { ! command -v go >/dev/null || ! [ -d $gocode/src/github.com/jackc/pgx ]; }; then
        lacks "there is no go or no golang-github-jackc-pgx-v4-dev"
    elif wanted pgx; then
        if GO111MODULE=off GOPATH=$gocode GOCACHE=$scratch/go GOFLAGS= \
            go build -o "$scratch/pgx" "$source/pgx_client.go" >go.log 2>&1; then
            same pgx run_pgx
        else
            fail "go: $(tail -n 5 go.log)"
        fi
    fi
fi

# ---- the end: nothing was misunderstood ----
exec 4>&-
wait $second || fail "the telling proxy ended with status $?: $(cat told.err)"
exec 3>&-
wait $first || fail "the passing proxy ended with status $?: $(cat plain.err)"
proxies=
for way in plain told; do
    tail -n 1 $way.out
    tail -n 1 $way.out | grep -q 'malformed 0 out-of-step 0' || fail "$way: it lost its place"
done
[ -s record ] && grep -q committed record || fail "the telling proxy told nothing"
announced=$(grep -c ' commit ' record) answered=$(grep -c ' committed ' record)
echo "$compared comparisons; $announced commits announced, $answered answered"
[ $status = 0 ] && [ -n "$missing" ] && exit 77
exit $status
