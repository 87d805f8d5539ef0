"""psycopg2: simple queries, COPY both ways, notifications, named cursors, cancelling."""
import io, os, sys
import psycopg2, psycopg2.extensions

db = psycopg2.connect(sys.argv[1])
cur = db.cursor()
cur.execute("drop table if exists py2; create table py2 (a int primary key, b text)")
cur.executemany("insert into py2 values (%s, %s)", [(i, "x" * i) for i in range(50)])
db.commit()
cur.execute("select a, length(b) from py2 order by a")
print(cur.fetchall(), cur.rowcount, db.status)
try:
    cur.execute("insert into py2 values (1, 'twice')")
except psycopg2.Error as error:
    print(error.pgcode)
print(db.get_transaction_status())
db.rollback()
cur.copy_expert("copy py2 from stdin", io.StringIO("".join(f"{i}\tcopied\n" for i in range(100, 40000))))
out = io.StringIO()
cur.copy_expert("copy (select * from py2 order by a) to stdout", out)
print(len(out.getvalue()), hash(out.getvalue()) == hash(out.getvalue()), out.getvalue()[-40:])
db.commit()
named = db.cursor("named")
named.itersize = 1000
named.execute("select a from py2 order by a")
print(sum(row[0] for row in named))
db.commit()
db.set_isolation_level(psycopg2.extensions.ISOLATION_LEVEL_AUTOCOMMIT)
cur.execute("listen py2; notify py2, 'hello'")
db.poll()
print([(n.channel, n.payload) for n in db.notifies])
big = "y" * 30000000
cur.execute("select %s", (big,))
print(cur.fetchone()[0] == big)
