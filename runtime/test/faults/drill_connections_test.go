package faults_test

import (
	"net/http"
	"net/url"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/storage/db/dbtest"
	"github.com/postrider/postrider/runtime/test/faults"
)

// Four processes with 40 connections each share a server that allows 100, and one whose role is limited to
// 40: no send and no list is rejected for lack of a connection.
func TestDrillFourProcessesShareConnections(t *testing.T) {
	expect.SkipWhenQuick(t, "make drill-short")
	t.Parallel()
	for name, c := range map[string]struct {
		limit string // connection limit of the role; empty: unlimited
		room  int
	}{"max_connections=100": {"", 97}, "a role with 40": {"CONNECTION LIMIT 40", 40}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sink := faults.NewSink(t)
			database := dbtest.NewServer(t)
			dbtest.Exec(t, database.OpenPatiently(), `CREATE ROLE app LOGIN IN ROLE postrider `+c.limit)
			address, err := url.Parse(database.URL())
			if err != nil {
				t.Fatal(err)
			}
			address.User = url.User("app")
			nodes := faults.StartCluster(t, address.String(), 4, outbound(sink.Listen("127.0.0.1:0")),
				"POSTRIDER_DATABASE_CONNECTIONS=40")
			ledger := faults.NewLedger()
			most, stop := watchConnections(t, database)
			sends := lengthOf(400, 5000)
			began := time.Now()
			var lists atomic.Int64
			at(256, sends, func(i int) {
				node := nodes[i%len(nodes)]
				ledger.Send(t.Context(), node, "c"+strconv.Itoa(i)+"@example.net")
				if a := node.Do(t.Context(), http.MethodGet, "/api/emails?limit=5", ""); a.Status != http.StatusOK {
					lists.Add(1)
				}
			})
			took := time.Since(began)
			stop()
			counts, slowest := ledger.Statuses()
			figure(t, "sends", sends, "5000 long")
			figure(t, "sends a second", int(float64(sends)/took.Seconds()), "-")
			figure(t, "answers", counts, "200 alone")
			figure(t, "maximum number of connections", int(most.Load()), "at most "+strconv.Itoa(c.room))
			figure(t, "slowest send", slowest[http.StatusOK], "-")
			figure(t, "lists refused", lists.Load(), "0")
			if counts[http.StatusOK] != sends || len(counts) != 1 || lists.Load() > 0 {
				t.Errorf("%d sends returned %v, and %d of as many lists were rejected, want only 200", sends, counts,
					lists.Load())
			}
			expect.Eventually(t, "all accepted mail has arrived", func() bool { return ledger.Missing(sink) == 0 })
			awaitIdle(t, nodes[0])
			audit(t, ledger.Audit(sink, nil, nil))
		})
	}
}

// watchConnections records the maximum number of connections of the processes until it is stopped.
func watchConnections(t *testing.T, database *dbtest.Server) (most *atomic.Int64, stop func()) {
	t.Helper()
	most, end := &atomic.Int64{}, make(chan struct{})
	var watching sync.WaitGroup
	d := database.OpenPatiently()
	watching.Go(func() {
		for {
			var n int64
			if err := d.SQL.QueryRowContext(t.Context(), `SELECT count(*) FROM pg_stat_activity WHERE usename = 'app'`).Scan(&n); err != nil {
				t.Error(err)
				return
			}
			most.Store(max(most.Load(), n))
			select {
			case <-end:
				return
			case <-time.After(50 * time.Millisecond):
			}
		}
	})
	return most, func() {
		close(end)
		watching.Wait()
	}
}
