package db_test

import (
	"context"
	"errors"
	"net/url"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/lib/pq"

	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/storage/db/dbtest"
)

// A caller whose deadline has passed does not block others, which connect immediately.
func TestExpiredCallerDoesNotBlockOthers(t *testing.T) {
	t.Parallel()
	pool, err := db.NewConnector(dbtest.URL(t))
	if err != nil {
		t.Fatal(err)
	}
	late, cancel := context.WithDeadline(t.Context(), time.Now().Add(-time.Second))
	defer cancel()
	if _, err := pool.Connect(late); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a caller without time got %v", err)
	}
	conn, err := pool.Connect(t.Context())
	if err != nil {
		t.Fatalf("the caller after one without time got %v", err)
	}
	checkEnd(t, conn.Close())
}

// withHosts returns the address of a server with another host before or after its own.
func withHosts(t *testing.T, server, before, portBefore, attributes string) string {
	t.Helper()
	address, err := url.Parse(server)
	if err != nil {
		t.Fatal(err)
	}
	query := address.Query()
	query.Set("host", before+","+query.Get("host"))
	query.Set("port", portBefore+",5432")
	query.Set("target_session_attrs", attributes)
	address.RawQuery = query.Encode()
	return address.String()
}

// hostOf returns the folder of a server's socket.
func hostOf(t *testing.T, server *dbtest.Server) string {
	t.Helper()
	address, err := url.Parse(server.URL())
	if err != nil {
		t.Fatal(err)
	}
	return address.Query().Get("host")
}

func TestSilentFirstHostDelaysOnce(t *testing.T) {
	t.Parallel()
	server := dbtest.URL(t)
	silences := map[string]func(*testing.T, *atomic.Int64) string{
		"deaf":      func(t *testing.T, met *atomic.Int64) string { t.Helper(); return expect.SilentPort(t, met) },
		"unplugged": func(t *testing.T, _ *atomic.Int64) string { t.Helper(); return expect.UnreachablePort(t) },
	}
	for name, silent := range silences {
		for _, attributes := range []string{"read-write", "any"} {
			t.Run(name+", "+attributes, func(t *testing.T) {
				t.Parallel()
				var met atomic.Int64
				began := time.Now()
				// The silent host has a head start of five seconds. Callers that are later than that query it
				// again.
				d := openURL(t, db.Config{URL: withHosts(t, server, "127.0.0.1", silent(t, &met), attributes),
					OpTimeout: 20 * time.Second})
				if took := time.Since(began); took > answerWithin {
					t.Errorf("Open took %s with a silent first host, want at most %s", took, answerWithin)
				}
				before := met.Load()
				d.SQL.SetMaxIdleConns(0) // each statement opens its own connection
				late := 0                // in case the machine was paused
				for range 10 {
					began := time.Now()
					if err := d.Ping(t.Context()); err != nil {
						t.Errorf("a later connection ended with %v", err)
					}
					if time.Since(began) > 4*time.Second {
						late++
					}
				}
				// In the background, the silent host is queried again, for five seconds each time, with and
				// without TLS.
				beside := int64(2 + 2*time.Since(began)/(5*time.Second))
				if asked := met.Load() - before; late > 4 || asked > int64(2*late)+beside {
					t.Errorf("of ten later connections %d were late, and the silent host was queried %d more "+
						"times, want them to use the last working host immediately", late, asked)
				}
			})
		}
	}
}

// The host that accepts writes may change at any time, so the last one is only a guess.
func TestLastWorkingHostMustAcceptWrites(t *testing.T) {
	t.Parallel()
	one, two := dbtest.NewServer(t), dbtest.NewServer(t) // copies of the same data, and so the same cluster
	two.SetReadOnly(true)
	d := openURL(t, db.Config{URL: withHosts(t, two.URL(), hostOf(t, one), "5432", "read-write")})
	if _, err := d.SQL.ExecContext(t.Context(), `CREATE TABLE which (host text); INSERT INTO which VALUES ('one')`); err != nil {
		t.Fatal(err)
	}
	one.SetReadOnly(true) // first, because nothing is stored while both accept writes
	two.SetReadOnly(false)
	if _, err := two.Open().SQL.ExecContext(t.Context(), `CREATE TABLE which (host text); INSERT INTO which VALUES ('two')`); err != nil {
		t.Fatal(err)
	}
	d.SQL.SetMaxIdleConns(0)
	for _, c := range []struct {
		closed, open *dbtest.Server
		want         string
	}{{two, one, "one"}, {one, two, "two"}, {two, one, "one"}} {
		c.closed.SetReadOnly(true)
		c.open.SetReadOnly(false)
		if got, err := db.One(t.Context(), d.SQL, db.Value[string], `UPDATE which SET host = host RETURNING host`); err != nil || got != c.want {
			t.Errorf("wrote to %q (%v), want %q, the only host that accepts writes", got, err, c.want)
		}
	}
}

func TestAddressesOfEachHost(t *testing.T) {
	t.Parallel()
	for dsn, want := range map[string][]string{
		"postgres://bob:p%40ss@one/mail?sslmode=disable":                                      {"one:5432"},
		"postgres://bob:p%40ss@one,two/mail?port=5433,5434&sslmode=disable":                   {"one:5433", "two:5434"},
		"postgres://bob:p%40ss@/mail?host=/run/a%20b,two&port=5433,5434&sslmode=disable":      {"/run/a b:5433", "two:5434"},
		`user=bob password='p@ss' dbname=mail sslmode=disable host='/run/it\'s,two' port=1,2`: {"/run/it's:1", "two:2"},
	} {
		addresses, err := db.Addresses(dsn)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, address := range addresses {
			c, err := pq.NewConfig(address)
			if err != nil {
				t.Errorf("%s became %s: %v", dsn, address, err)
			}
			got = append(got, c.Host+":"+strconv.Itoa(int(c.Port)))
			if c.User != "bob" || c.Password != "p@ss" || c.Database != "mail" || c.SSLMode != pq.SSLModeDisable ||
				len(c.Multi) > 0 {
				t.Errorf("%s became %s, which is different or has several hosts", dsn, address)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("the hosts of %s differ (-want +got):\n%s", dsn, diff)
		}
	}
}
