#!/bin/sh
# How fast the proxy passes: pgbench directly, through the proxy, through pgbouncer (Debian's, if it is
# there) and through the proxy while it tells of every statement, in turns, on one private server and
# unix sockets only. Prints transactions a second, the median of the rounds, ratios, and what a
# transaction costs the process in the middle in processor time, which a busy machine changes least.
#
# usage: pgbench.sh PASSING [SECONDS [ROUNDS [CLIENTS]]]
set -eu
passing=$1 seconds=${2:-5} rounds=${3:-3} clients=${4:-4}
scratch=$(mktemp -d)
chmod 755 "$scratch"
pids=
finish() {
    exec 3>&- 4>&-
    [ ! -s "$scratch/bouncer/pid" ] || kill "$(cat "$scratch/bouncer/pid")"
    wait $pids 2>/dev/null || true
    rm -rf "$scratch"
}
trap finish EXIT
cd "$scratch"
PGUSER=assay PGDATABASE=postgres
export PGUSER PGDATABASE
pgbench=$(command -v pgbench || ls /usr/lib/postgresql/*/bin/pgbench | tail -n 1)

mkdir plain told bouncer
mkfifo in3 in4
"$passing" - "$scratch/plain/.s.PGSQL.5432" <in3 >plain.out &
first=$!
exec 3>in3
until [ -s plain.out ]; do kill -0 $first && sleep 0.1; done
read -r _ _ direct <plain.out
"$passing" "$direct/.s.PGSQL.5432" "$scratch/told/.s.PGSQL.5432" --record /dev/null <in4 >told.out &
second=$!
pids="$second $first"
exec 4>in4
until [ -s told.out ]; do sleep 0.1; done

# pgbouncer, too, refuses to run as root; it must be who owns the server's socket.
ways='direct plain told'
if command -v pgbouncer >/dev/null; then
    cat >bouncer/ini <<END
[databases]
postgres = host=$direct dbname=postgres user=assay
[pgbouncer]
unix_socket_dir = $scratch/bouncer
listen_port = 5432
auth_type = any
pool_mode = session
default_pool_size = 100
max_client_conn = 200
pidfile = $scratch/bouncer/pid
logfile = $scratch/bouncer/log
END
    owner=$(stat -c %U "$direct")
    as=
    if [ "$(id -un)" != "$owner" ]; then
        chown "$owner" bouncer
        as="setpriv --reuid $owner --regid $(stat -c %G "$direct") --clear-groups"
    fi
    # In the foreground: as a daemon it would be another session, which the scheduler treats apart.
    $as pgbouncer -q "$scratch/bouncer/ini" &
    pids="$pids $!"
    until [ -s bouncer/pid ]; do sleep 0.1; done
    ways="direct plain bouncer told"
else
    echo "there is no pgbouncer: it is not compared with"
fi

# Processor time so far of the process in the middle, in ticks.
spent() {
    case $1 in
    plain) pid=$first ;;
    told) pid=$second ;;
    bouncer) pid=$(cat "$scratch/bouncer/pid") ;;
    direct) echo 0 && return ;;
    esac
    sed 's/.*) //' "/proc/$pid/stat" | cut -d ' ' -f 12,13 | tr ' ' + | xargs -I {} sh -c 'echo $(({}))'
}
host_of() { if [ "$1" = direct ]; then echo "$direct"; else echo "$scratch/$1"; fi; }
"$pgbench" -h "$direct" -i -s 1 -q >/dev/null 2>&1
for mode in simple extended prepared; do
    for round in $(seq "$rounds"); do
        for way in $ways; do
            before=$(spent "$way")
            "$pgbench" -h "$(host_of "$way")" -n -S -M $mode -c "$clients" -T "$seconds" >one 2>/dev/null
            ticks=$(($(spent "$way") - before))
            sed -n "s/^tps = \([0-9.]*\).*/$mode $way \1/p" one
            sed -n "s/.*actually processed: \([0-9]*\).*/$mode $way-ticks $ticks \1/p" one
        done
    done
done >figures
sort -k1,1 -k2,2 -k3,3n figures | awk -v tick="$(getconf CLK_TCK)" '
    $2 ~ /-ticks$/ { ticks[$1 " " $2] += $3; done[$1 " " $2] += $4; next }
    function cost(key) { return done[key] > 0 ? 1e6 * ticks[key] / tick / done[key] : 0 }
    { key = $1 " " $2; n[key]++; value[key, n[key]] = $3; modes[$1] = 1 }
    function median(key) { return value[key, int((n[key] + 1) / 2)] }
    END {
        printf "%-9s %9s %9s %9s %9s   %s\n", "pgbench -S", "direct", "passing", "pgbouncer", "telling",
            "passing/direct  passing/pgbouncer  telling/direct"
        split("simple extended prepared", order, " ")
        for (i = 1; i <= 3; i++) {
            m = order[i]; d = median(m " direct"); p = median(m " plain")
            b = median(m " bouncer"); t = median(m " told")
            printf "%-9s %9.0f %9.0f %9.0f %9.0f   %14.2f  %17s  %14.2f\n", m, d, p, b, t, p / d,
                (b > 0 ? sprintf("%.2f", p / b) : "-"), t / d
        }
        for (i = 1; i <= 3; i++) {
            m = order[i]
            printf "%-9s processor us a transaction: passing %.1f, pgbouncer %.1f, telling %.1f\n", m,
                cost(m " plain-ticks"), cost(m " bouncer-ticks"), cost(m " told-ticks")
        }
    }'
