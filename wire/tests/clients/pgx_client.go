// pgx: a cache of prepared statements, batches as pipelines, COPY, notifications.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/jackc/pgconn"
	"github.com/jackc/pgx/v4"
)

func check(err error) {
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
}

func code(err error) string {
	var answer *pgconn.PgError
	if errors.As(err, &answer) {
		return answer.Code
	}
	return "none"
}

func main() {
	ctx := context.Background()
	db, err := pgx.Connect(ctx, "host="+os.Args[1]+" user=assay database=postgres")
	check(err)
	_, err = db.Exec(ctx, "drop table if exists gx; create table gx (a int primary key, b text)")
	check(err)
	for i := 0; i < 20; i++ {
		_, err = db.Exec(ctx, "insert into gx values ($1, $2)", i, strings.Repeat("x", i))
		check(err)
	}
	batch := &pgx.Batch{}
	for i := 100; i < 150; i++ {
		batch.Queue("insert into gx values ($1, 'batch') returning a", i)
	}
	batch.Queue("select count(*) from gx")
	results := db.SendBatch(ctx, batch)
	for i := 0; i < 51; i++ {
		var n int64
		check(results.QueryRow().Scan(&n))
		fmt.Print(n, " ")
	}
	check(results.Close())
	tx, err := db.Begin(ctx)
	check(err)
	_, err = tx.Exec(ctx, "insert into gx values ($1, 'twice')", 1)
	fmt.Println(code(err))
	_, err = tx.Exec(ctx, "select 1")
	fmt.Println(code(err))
	fmt.Println(tx.Commit(ctx))
	rows := [][]interface{}{}
	for i := 1000; i < 20000; i++ {
		rows = append(rows, []interface{}{int32(i), "copied"})
	}
	copied, err := db.CopyFrom(ctx, pgx.Identifier{"gx"}, []string{"a", "b"}, pgx.CopyFromRows(rows))
	check(err)
	fmt.Println(copied)
	_, err = db.Exec(ctx, "listen gx")
	check(err)
	_, err = db.Exec(ctx, "select pg_notify('gx', $1)", "hello")
	check(err)
	heard, err := db.WaitForNotification(ctx)
	check(err)
	fmt.Println(heard.Payload)
	big := strings.Repeat("y", 20000000)
	var got string
	check(db.QueryRow(ctx, "select $1::text", big).Scan(&got))
	fmt.Println(got == big)
	check(db.Close(ctx))
}
