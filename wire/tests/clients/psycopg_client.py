"""psycopg 3: the extended protocol, prepared statements, pipelines, COPY, server-side cursors."""
import sys
import psycopg

with psycopg.connect(sys.argv[1]) as db:
    db.execute("drop table if exists py3")
    db.execute("create table py3 (a int primary key, b text)")
    for i in range(20):
        db.execute("insert into py3 values (%s, %s)", (i, "x" * i), prepare=True)
    db.commit()
    print(db.execute("select a, b from py3 order by a", binary=True).fetchall())
    with db.pipeline() as pipeline:
        one = db.execute("select %s::int", (1,))
        two = db.execute("insert into py3 values (%s, 'p') returning a", (100,))
        pipeline.sync()
        three = db.execute("select count(*) from py3")
    print(one.fetchall(), two.fetchall(), three.fetchall())
    try:
        with db.pipeline():
            db.execute("insert into py3 values (%s, 'q')", (200,))
            db.execute("insert into py3 values (%s, 'q')", (1,))
            db.execute("insert into py3 values (%s, 'q')", (300,))
    except psycopg.Error as error:
        print(error.sqlstate)
    db.rollback()
    with db.cursor() as cur:
        with cur.copy("copy py3 from stdin") as copy:
            for i in range(1000, 30000):
                copy.write_row((i, "copied"))
        with cur.copy("copy (select * from py3 order by a) to stdout (format binary)") as copy:
            print(sum(len(block) for block in copy))
    try:
        with db.cursor() as cur, cur.copy("copy py3 from stdin") as copy:
            copy.write_row((1, "twice"))
    except psycopg.Error as error:
        print(error.sqlstate)
    db.rollback()
    with db.cursor("named") as cur:
        cur.execute("select a from py3 order by a")
        print(sum(row[0] for row in cur))
    db.commit()
    db.autocommit = True
    big = b"z" * 30000000
    got = db.execute("select %s::bytea", (big,), binary=True).fetchone()[0]
    print(bytes(got) == big)
    print(db.info.transaction_status.name)
