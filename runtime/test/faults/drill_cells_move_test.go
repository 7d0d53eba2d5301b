package faults_test

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/test/faults"
)

// An account moves from one cell to another and back, with HAProxy in front of both, while its clients send with the
// same base URL and key. They only get 2xx, and 503 account_moving while the account is frozen. Clients of other
// accounts notice nothing. Between the moves, all processes restart while requests are forwarded.
func TestDrillMoveBehindOneProxy(t *testing.T) {
	expect.SkipWhenQuick(t, "make drill-short")
	t.Parallel()
	sink := faults.NewSink(t)
	host := sink.Listen("127.0.0.1:0")
	c := startCells(t, host)
	cell0, cell7, front := c.cell0, c.cell7, c.both
	m := &mover{t: t, source: installation{cell7[0], operatorKey(t, cell7[0])},
		target: installation{cell0[0], operatorKey(t, cell0[0])}}
	client, endpoint := m.createAccount()
	client.baseURL = front
	others := []*faults.Load{faults.Begin(cell0[0].Through(front), 1), faults.Begin(cell7[0].Through(front), 1)}
	end := client.begin(t, lengthOf(4, 16))
	t.Cleanup(end)
	sendsMore := func() {
		before := client.all.Count()
		expect.Eventually(t, "the client sends", func() bool { return client.all.Count() > before+lengthOf(20, 500) })
	}
	sendsMore()

	var freezes []time.Duration
	restarts := 0
	for i := range lengthOf(1, 6) {
		to := []string{c.only0, c.only7}[i%2]
		_, told, err := m.source.TryUntil(t.Context(), m.source.Database(), "admin", "account", "move", m.accountID,
			"--to", to, "--key-file", m.target.keyFile, "--base-url", m.source.BaseURL, "--forward")
		if err != nil {
			t.Fatalf("move %d: %v: %s", i, err, told)
		}
		m.source, m.target = m.target, m.source
		sendsMore()
		freezes = append(freezes, client.freeze())
		restarts += restart(t, slices.Concat(cell0, cell7)[:lengthOf(0, 4)])
		sendsMore()
	}
	end()
	for _, load := range others {
		load.End()
	}
	m.settle(sink, client)
	for _, load := range others {
		expect.Eventually(t, "the mail of other accounts arrives", func() bool { return load.Missing(sink) == 0 })
	}
	for _, node := range slices.Concat(cell0, cell7) {
		node.KillNow() // without the delay
	}

	byCell := map[int]int{}
	for email := range client.all.EmailIDs() {
		byCell[id.Cell(email)]++
	}
	figure(t, "moves, restarts of processes", fmt.Sprintf("%d, %d", len(freezes), restarts), "-")
	slices.Sort(freezes)
	figure(t, "freeze, as clients see it: median, longest",
		fmt.Sprint(freezes[len(freezes)/2].Round(time.Millisecond), ", ", freezes[len(freezes)-1].Round(time.Millisecond)), "-")
	figure(t, "answers to clients of the account", fmt.Sprint(client.answers), "2xx, and 503 account_moving")
	figure(t, "emails by the cell that accepted them", fmt.Sprint(byCell), "both")
	allowed := []string{"200", "202", "503 account_moving"}
	for answer, n := range client.answers {
		if !slices.Contains(allowed, answer) {
			t.Errorf("clients of the account got %d x %q, want only %v", n, answer, allowed)
		}
	}
	if client.answers["503 account_moving"] == 0 || byCell[0] == 0 || byCell[7] == 0 || client.contradictions.Load() > 0 {
		t.Errorf("answers %v, emails by cell %v, %d replays of a key with another response", client.answers, byCell,
			client.contradictions.Load())
	}
	audit(t, client.all.Audit(sink, nil, nil))
	for i, load := range others {
		counts, _ := load.Statuses()
		figure(t, fmt.Sprintf("answers to clients of another account of cell %d", 7*i), fmt.Sprint(counts), "200 only")
		if len(counts) != 1 || counts[http.StatusOK] == 0 {
			t.Errorf("clients of another account got %v, want 200 only", counts)
		}
		audit(t, load.Audit(sink, nil, nil))
	}
	oneEmailPerClientRecipient(t, sink)
	events := m.source.Query(`SELECT count(*) FROM facts WHERE type = 'email.delivered' AND account_id = $1`, m.accountID)[0][0]
	taken, again := endpoint.counts()
	figure(t, "events, delivered, again", fmt.Sprintf("%s, %d, %d", events, taken, again), "all")
	if events != strconv.Itoa(taken) {
		t.Errorf("%d of %s events were delivered", taken, events)
	}
}
