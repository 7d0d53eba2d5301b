package db_test

import (
	"bytes"
	"encoding/binary"
	"io"
	"strings"
	"testing"

	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/storage/db/dbtest"
)

// readStartup reads the first message of a client: the protocol version, and names and values.
func readStartup(t *testing.T, client io.Reader) (head []byte, texts []string) {
	t.Helper()
	head = make([]byte, 8)
	if _, err := io.ReadFull(client, head); err != nil {
		return nil, nil // the client has disconnected
	}
	rest := make([]byte, binary.BigEndian.Uint32(head)-8)
	if _, err := io.ReadFull(client, rest); err != nil {
		t.Error(err)
	}
	return head, strings.Split(strings.TrimRight(string(rest), "\x00"), "\x00")
}

// rejectStartup simulates PgBouncer with its default settings.
func rejectStartup(t *testing.T, client io.ReadWriter, _ io.Writer) bool {
	t.Helper()
	if head, _ := readStartup(t, client); head == nil {
		return false
	}
	fields := "SFATAL\x00VFATAL\x00C08P01\x00Munsupported startup parameter: statement_timeout\x00\x00"
	answer := binary.BigEndian.AppendUint32([]byte("E"), uint32(len(fields)+4))
	_, err := client.Write(append(answer, fields...))
	checkEnd(t, err)
	return false
}

// ignoreParameters simulates PgBouncer with ignore_startup_parameters.
func ignoreParameters(t *testing.T, client io.ReadWriter, server io.Writer) bool {
	t.Helper()
	head, texts := readStartup(t, client)
	if head == nil {
		return false
	}
	var kept bytes.Buffer
	for i := 0; i+1 < len(texts); i += 2 {
		if texts[i] == "user" || texts[i] == "database" {
			kept.WriteString(texts[i] + "\x00" + texts[i+1] + "\x00")
		}
	}
	kept.WriteByte(0)
	binary.BigEndian.PutUint32(head, uint32(kept.Len()+8))
	_, err := server.Write(append(head, kept.Bytes()...))
	checkEnd(t, err)
	return true
}

func TestPoolersAreRejectedWithReason(t *testing.T) {
	t.Parallel()
	server := dbtest.NewServer(t)
	for name, plays := range map[string]pooler{"with default settings": rejectStartup,
		"that ignores parameters": ignoreParameters} {
		proxy := newProxy(t, server.URL(), plays)
		d, err := db.Open(t.Context(), db.Config{URL: proxy.url}, discard)
		if err == nil || !strings.Contains(err.Error(), "PgBouncer") ||
			!strings.Contains(err.Error(), "POSTRIDER_DATABASE_CONNECTIONS") || fault.IsDatabaseUnavailable(err) {
			t.Errorf("a pooler %s returned %v, want a permanent error with the reason", name, err)
		}
		if err == nil {
			checkEnd(t, d.Close())
		}
	}
}

// After a failover, each connection checks the server that it reaches.
func TestUnsuitableServerIsRejectedLater(t *testing.T) {
	t.Parallel()
	first, other, careless := dbtest.NewServer(t), dbtest.NewServer(t), dbtest.NewServer(t)
	other.BecomeForeign()
	if _, err := careless.Open().SQL.ExecContext(t.Context(),
		`ALTER ROLE CURRENT_USER SET synchronous_commit = off`); err != nil {
		t.Fatal(err)
	}
	proxy := newProxy(t, first.URL(), nil)
	d := openURL(t, db.Config{URL: proxy.url})
	for _, c := range []struct {
		to   *dbtest.Server
		want string
	}{{other, "another cluster"}, {first, ""}, {careless, "synchronous_commit=off"}, {first, ""}} {
		proxy.redirectTo(t, c.to.URL())
		d.SQL.SetMaxIdleConns(0) // the next statement opens a new connection
		_, err := d.SQL.ExecContext(t.Context(), `SELECT 1`)
		switch {
		case c.want == "" && err != nil:
			t.Errorf("the first server returned %v", err)
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want) ||
			!fault.IsDatabaseUnavailable(err)):
			t.Errorf("an unsuitable server returned %v, want %q, classified as an unavailable database", err, c.want)
		}
	}
}

func TestPoolSizes(t *testing.T) {
	t.Parallel()
	d := openURL(t, db.Config{URL: dbtest.URL(t), Connections: 7})
	if ordinary, hot := d.SQL.Stats().MaxOpenConnections, d.Hot.Stats().MaxOpenConnections; ordinary != 3 || hot != 4 {
		t.Errorf("the pools have %d and %d connections, want 3 and 4", ordinary, hot)
	}
}
