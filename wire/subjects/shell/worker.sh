#!/bin/sh
# A worker of shell and psql: claims a job for half a second, sends its mail, closes it. With an
# argument it is broken: mail and closing are two commits.
close="update jobs set done = true where id = :job and owner = :'owner' and not done returning id"
mail="insert into mails (job) select :job"
while :; do
    owner=$(cat /proc/sys/kernel/random/uuid)
    job=$(echo "update jobs set owner = :'owner', lease = now() + '500 ms' where id = (select id from
        jobs where not done and (lease is null or lease < now()) order by id for update skip locked
        limit 1) returning id" | psql -qAt -v owner="$owner") || { sleep 0.1; continue; }
    [ -n "$job" ] || { sleep 0.05; continue; }
    if [ $# -gt 0 ]; then
        echo "$mail; $close;" | psql -q -v job="$job" -v owner="$owner" >/dev/null
    else
        echo "with closed as ($close) insert into mails (job) select id from closed" |
            psql -q -v job="$job" -v owner="$owner"
    fi
done
