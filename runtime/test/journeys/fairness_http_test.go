package journeys_test

import (
	"database/sql"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/base/setting"
	"github.com/postrider/postrider/runtime/storage/db/dbtest"
	"github.com/postrider/postrider/runtime/test/harness"
)

// Bodies of which only one byte has arrived do not delay small sends of other clients, with any key,
// including a Free account's.
func TestIncompleteBodiesDoNotDelaySmallSends(t *testing.T) {
	app := harness.Start(t, nil)
	stranger := app.Stranger(t, "stranger")
	contest{name: "sends of 100 bytes during 150 incomplete bodies of 1 MB",
		honest: newSender(t, app, "ada@dev.test", 100), attack: func(a *attack) {
			for range 150 {
				a.keep(hostOfApp(app), incompleteRequest(stranger, 1<<20, "{"))
			}
		}}.run(t)
}

// Large incomplete bodies do not delay large sends of other clients, with or without a declared length.
func TestIncompleteBodiesDoNotDelayLargeSends(t *testing.T) {
	app := harness.Start(t, nil)
	stranger := app.Stranger(t, "stranger")
	chunk := strings.Repeat(" ", 1<<20+1)
	contest{name: "sends of 1.2 MB during incomplete bodies of 130 MB",
		honest: newSender(t, app, "ada@dev.test", 1_200_000), attack: func(a *attack) {
			for range 2 {
				a.keep(hostOfApp(app), incompleteRequest(stranger, 130_000_000, "{"))
				a.keep(hostOfApp(app), incompleteRequest(stranger, 130_000_000, "{"+chunk))
				a.keep(hostOfApp(app), func(c net.Conn) error {
					_, err := fmt.Fprintf(c,
						"POST /api/emails HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n",
						stranger.APIKey, len(chunk), chunk)
					return err
				})
			}
		}}.run(t)
}

// Clients that read a large message slowly, or not at all, do not delay other readers.
func TestSlowReadersDoNotDelayOthers(t *testing.T) {
	expect.SkipWhenQuick(t, "make drill-short")
	url := dbtest.URL(t)
	app := harness.Start(t, func(s setting.RawValues) { s["DATABASE_URL"] = url })
	stranger := app.Stranger(t, "stranger")
	conn, err := sql.Open("postgres", url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	received := func(size int) string {
		line := strings.Repeat("x", 98) + "\r\n"
		receive(t, app, "support@dev.test", "Subject: s\r\n\r\n"+strings.Repeat(line, size/len(line)))
		return lastReceived(t, app)
	}
	mine := received(1 << 20)
	for _, table := range []string{"received_contents SET account_id = $1 WHERE id = (SELECT content_id FROM received_emails WHERE id = $2)", "received_emails SET account_id = $1 WHERE id = $2"} {
		if _, err := conn.ExecContext(t.Context(), "UPDATE "+table, stranger.AccountID, mine); err != nil {
			t.Fatal(err)
		}
	}
	large := []string{received(31 << 20), received(11 << 20)}
	client := &http.Client{Timeout: time.Minute}
	t.Cleanup(client.CloseIdleConnections)
	honest := func() error {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, app.BaseURL+"/api/received-emails/"+mine+
			"/raw", nil)
		if err != nil {
			return err
		}
		r.Header.Set("Authorization", "Bearer "+stranger.APIKey)
		return requireOK(client, r)
	}
	contest{name: "reads of 1 MB during readers that stall", honest: honest, attack: func(a *attack) {
		a.idle = true
		for i := range 8 {
			a.keep(hostOfApp(app), func(c net.Conn) error {
				if err := c.(*net.TCPConn).SetReadBuffer(2 << 10); err != nil {
					return err
				}
				path := "/api/received-emails/" + large[i%2] + []string{"", "/raw"}[i/2%2]
				if _, err := fmt.Fprintf(c, "GET %s HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\n\r\n", path,
					app.APIKey); err != nil {
					return err
				}
				_, err := io.ReadFull(c, make([]byte, 1000)) // it has started
				return err
			})
		}
	}}.run(t)
}
