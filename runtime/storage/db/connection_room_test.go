package db_test

import (
	"context"
	"net/url"
	"sync"
	"testing"
	"time"

	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/storage/db/dbtest"
)

// urlForRole returns the address of a database for another role, which it creates without superuser rights.
func urlForRole(t *testing.T, server *dbtest.Server, role, options string) string {
	t.Helper()
	dbtest.Exec(t, server.Open(), `CREATE ROLE `+role+` LOGIN `+options)
	address, err := url.Parse(server.URL())
	if err != nil {
		t.Fatal(err)
	}
	address.User = url.User(role)
	return address.String()
}

// The room is the minimum of what the server, the role and the database allow. Only the server limits
// superusers.
func TestRoomIsLowestLimit(t *testing.T) {
	t.Parallel()
	server := dbtest.NewServer(t)
	room := func(address string) int {
		t.Helper()
		connections, _, _ := openURL(t, db.Config{URL: address, OpTimeout: expect.Patience}).ConnectionRoom()
		return connections
	}
	free, limited := urlForRole(t, server, "free", ""), urlForRole(t, server, "limited", "CONNECTION LIMIT 40")
	if got := room(free); got != 97 {
		t.Errorf("a server with 100 connections, 3 of them reserved, has room for %d, want 97", got)
	}
	if got := room(limited); got != 40 {
		t.Errorf("a role with 40 connections has room for %d", got)
	}
	dbtest.Exec(t, server.Open(), `ALTER DATABASE postrider CONNECTION LIMIT 30`)
	if got := room(limited); got != 30 {
		t.Errorf("a database with 30 connections has room for %d", got)
	}
	if got := room(server.URL()); got != 97 {
		t.Errorf("a superuser has room for %d connections, want 97", got)
	}
}

// With four processes of 40 connections each and a role that allows 20, no statement is rejected, whether the
// processes know of each other or not.
func TestProcessesShareRoleConnections(t *testing.T) {
	t.Parallel()
	for name, processes := range map[string]int{"known": 4, "unknown": 1} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := dbtest.NewServer(t)
			address := urlForRole(t, server, "limited", "CONNECTION LIMIT 20")
			var four []*db.DB
			for range 4 {
				d := openURL(t, db.Config{URL: address, Connections: 40, OpTimeout: expect.Patience})
				d.ShareWith(processes)
				four = append(four, d)
			}
			var all sync.WaitGroup
			for _, d := range four {
				for client := range 24 {
					all.Go(func() {
						pool := d.SQL
						if client%2 == 0 {
							pool = d.Hot
						}
						for range 15 {
							ctx, cancel := context.WithTimeout(t.Context(), expect.Patience)
							if _, err := pool.ExecContext(ctx, `SELECT pg_sleep(0.01)`); err != nil {
								t.Errorf("a statement was rejected: %v", err)
							}
							cancel()
						}
					})
				}
			}
			all.Wait()
		})
	}
}

// A process with more than its share releases connections when another one starts, and reopens them later.
func TestShareFollowsNumberOfProcesses(t *testing.T) {
	t.Parallel()
	server := dbtest.NewServer(t)
	d := openURL(t, db.Config{URL: urlForRole(t, server, "limited", "CONNECTION LIMIT 40"), Connections: 30,
		OpTimeout: expect.Patience})
	burst := func() {
		var all sync.WaitGroup
		for range 40 {
			all.Go(func() {
				if _, err := d.SQL.ExecContext(t.Context(), `SELECT pg_sleep(0.05)`); err != nil {
					t.Errorf("a statement was rejected: %v", err)
				}
			})
		}
		all.Wait()
	}
	open := func() int { return d.SQL.Stats().OpenConnections }
	burst()
	if got := open(); got != 15 {
		t.Errorf("alone, the pool has %d connections, want 15 of 30", got)
	}
	d.ShareWith(4)
	if _, processes, each := d.ConnectionRoom(); processes != 4 || each != 8 {
		t.Errorf("with %d processes, each has %d connections, want 8 with four", processes, each)
	}
	expect.Eventually(t, "connections above the share are closed", func() bool { return open() <= 4 })
	burst()
	if got := open(); got > 4 {
		t.Errorf("with three other processes, the pool has %d connections, want 4 of 8", got)
	}
	d.ShareWith(1)
	expect.EventuallyWithin(t, 30*time.Second, "the pool grows again", func() bool {
		burst()
		return open() == 15
	})
	var others int
	if err := d.SQL.QueryRowContext(t.Context(), `SELECT count(*) FROM pg_stat_activity WHERE usename = 'limited'`).Scan(&others); err != nil || others > 30 {
		t.Errorf("the role has %d connections (%v), want at most 30", others, err)
	}
}
