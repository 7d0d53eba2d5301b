package main

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/postrider/postrider/cmd/bench/figures"
	"github.com/postrider/postrider/cmd/bench/process"
	"github.com/postrider/postrider/cmd/bench/receivers"
	"github.com/postrider/postrider/cmd/bench/stored"
	"github.com/postrider/postrider/cmd/bench/streaming"
	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/web/egress"
	"github.com/postrider/postrider/runtime/web/webhooksig"
	"github.com/postrider/postrider/runtime/work/event"
)

// hookAccounts are accounts with one endpoint each, which take their turns: a process
// has a few POSTs to one endpoint at a time.
const hookAccounts = 32

// benchWebhooks compares deliveries of webhooks with POSTs of equal bodies by the same
// HTTP client, signed anew each, to the same receiver. In one case all deliveries wait
// in the queue already, in the other events are on the bus and are fanned out meanwhile.
func benchWebhooks(ctx context.Context, p plan, dir string) ([]target, error) {
	queued := target{name: "webhooks / raw signed POSTs", least: 0.5}
	whole := target{name: "webhooks with fan-out / raw signed POSTs"}
	r, err := receivers.NewWebhook(ctx, "200 OK", 0, nil)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	progress("starting Postrider twice to deliver webhooks to a receiver on loopback: PostgreSQL counts statements from its second start on")
	s, err := startCounting(ctx, p.binary, dir)
	if err != nil {
		return nil, err
	}
	defer s.stop()
	if p.split {
		const table = "webhook_deliveries"
		if err := stored.Partition(ctx, p.binary, dir, table); err != nil {
			return nil, err
		}
		if err := stored.SplitMonths(ctx, s.Ready.DatabaseURL, table, id.WebhookDelivery, stored.MonthsBefore(time.Now(), table, 4)); err != nil {
			return nil, err
		}
	}
	h, err := newHooks(ctx, s.Ready)
	if err != nil {
		return nil, err
	}
	defer h.close()
	if err := h.endpoints(ctx, hookAccounts, r.URL()); err != nil {
		return nil, err
	}
	if err := h.oneAccountEach(ctx); err != nil {
		return nil, err
	}
	if _, err := h.deliver(ctx, r, p.messages/10, h.fannedOut); err != nil { // warm-up
		return nil, err
	}
	progress("%d rounds of raw POSTs for %s and of 2 x %d deliveries", p.rounds, p.each, p.messages)
	var raws, rates, wholes []float64
	var cpu, own, rawCPU time.Duration // of all, of the server process, of raw POSTs with the receiver
	var posts float64
	self := os.Getpid()
	for range p.rounds {
		idle := process.UsageOf(self).CPU
		raw, err := rawPosts(ctx, r.URL(), p.each)
		if err != nil {
			return nil, err
		}
		posts, rawCPU = posts+raw*p.each.Seconds(), rawCPU+process.UsageOf(self).CPU-idle
		before, ownBefore := process.CPUBelow(s.cmd.Process.Pid), process.UsageOf(s.cmd.Process.Pid).CPU
		rate, err := h.deliver(ctx, r, p.messages, h.fannedOut)
		if err != nil {
			return nil, err
		}
		cpu, own = cpu+process.CPUBelow(s.cmd.Process.Pid)-before, own+process.UsageOf(s.cmd.Process.Pid).CPU-ownBefore
		both, err := h.deliver(ctx, r, p.messages, h.onTheBus)
		if err != nil {
			return nil, err
		}
		raws, rates, wholes = append(raws, raw), append(rates, rate), append(wholes, both)
		queued.ratios, whole.ratios = append(queued.ratios, rate/raw), append(whole.ratios, both/raw)
	}
	fmt.Printf("%-46s %8.0f /s\n%-46s %8.0f /s\n%-46s %8.0f /s\n", "raw signed POSTs", figures.Median(raws), "webhook deliveries, fanned out before", figures.Median(rates),
		"webhook deliveries, fanned out meanwhile", figures.Median(wholes))
	fmt.Printf("%-46s %9.2f s\n", "CPU per 1,000 raw POSTs, with the receiver", rawCPU.Seconds()*1000/posts)
	deliveries := float64(p.rounds*p.messages) / 1000
	fmt.Printf("%-46s %9.2f s, PostgreSQL %.2f s\n\n", "CPU per 1,000 deliveries: server", own.Seconds()/deliveries, (cpu-own).Seconds()/deliveries)
	return []target{queued, whole}, h.count(ctx, s, r, p.messages)
}

// count tells which statements a round of deliveries costs that were fanned out before.
func (h *hooks) count(ctx context.Context, s *server, r *receivers.Webhook, messages int) error {
	counts, err := newCounter(ctx, s)
	if err != nil {
		return err
	}
	defer counts.close()
	if _, err := h.conn.ExecContext(ctx, `SELECT pg_stat_statements_reset()`); err != nil {
		return err
	}
	if _, err := h.deliver(ctx, r, messages, h.fannedOut); err != nil {
		return err
	}
	return counts.top(ctx, fmt.Sprintf("%d deliveries, with the storing of them", messages))
}

// hooks makes endpoints over the API, and events below it.
type hooks struct {
	ready ready
	conn  *sql.DB
}

func newHooks(ctx context.Context, r ready) (*hooks, error) {
	conn, err := sql.Open("postgres", r.DatabaseURL)
	if err != nil {
		return nil, err
	}
	return &hooks{ready: r, conn: conn}, conn.PingContext(ctx)
}

func (h *hooks) close() {
	if err := h.conn.Close(); err != nil {
		progress("hooks: %v", err)
	}
}

// endpoints makes n of them, by turns when there are several addresses.
func (h *hooks) endpoints(ctx context.Context, n int, urls ...string) error {
	for i := range n {
		body, err := json.Marshal(map[string]string{"url": urls[i%len(urls)]})
		if err != nil {
			return err
		}
		if _, err := postTo(ctx, http.DefaultClient, h.ready, "/webhooks", body); err != nil {
			return err
		}
	}
	return nil
}

// oneAccountEach gives each endpoint an account of its own, of which nothing else is
// needed here.
func (h *hooks) oneAccountEach(ctx context.Context) error {
	_, err := h.conn.ExecContext(ctx, `UPDATE webhooks SET account_id = 'acc' || substr(id, 3)`)
	return err
}

// deliver makes n events at once and gives how many a second arrive.
func (h *hooks) deliver(ctx context.Context, r *receivers.Webhook, n int, events func(context.Context, int) error) (float64, error) {
	arrived := r.Expect(n)
	begin := time.Now()
	if err := events(ctx, n); err != nil {
		return 0, err
	}
	if stored := time.Since(begin); r.Left() > int64(n/2) {
		begin = begin.Add(stored) // they were there at once
	}
	select {
	case <-arrived:
		return float64(n) / time.Since(begin).Seconds(), h.settled(ctx)
	case <-time.After(2 * time.Minute):
		return 0, fmt.Errorf("%d deliveries are missing after two minutes", r.Left())
	case <-ctx.Done():
		return 0, ctx.Err()
	}
}

// settled waits until all outcomes are stored, so that rounds do not mix.
func (h *hooks) settled(ctx context.Context) error {
	return h.until(ctx, `SELECT count(*) = 0 FROM webhook_works`)
}

func (h *hooks) until(ctx context.Context, question string) error {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		var yes bool
		if err := h.conn.QueryRowContext(ctx, question).Scan(&yes); err != nil || yes {
			return err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// fannedOut stores events with their deliveries, as the fan-out leaves them.
func (h *hooks) fannedOut(ctx context.Context, n int) error {
	return h.store(ctx, n, stored.FactsSQL+`, handled AS (
	INSERT INTO bus_handled (consumer, first_id, last_id, fact_ids) SELECT 'webhooks', min(id), max(id), array_agg(id) FROM stored
), made AS (
	INSERT INTO webhook_deliveries (id, account_id, webhook_id, event_id, event_type, event_created_at, state, due_at, attempts, replays, error, created_at)
	SELECT 'whd' || substr(f.id, 4), f.account_id, w.id, f.id, 'email.delivered', f.created_at, 'pending', now(), 0, 0, '', now()
	FROM stored f JOIN webhooks w ON w.account_id = f.account_id
	RETURNING id, webhook_id
)
INSERT INTO webhook_works (id, webhook_id, due_at, fence, attempts, round) SELECT id, webhook_id, now(), 0, 0, 0 FROM made`, "webhooks")
}

// onTheBus stores events as they are published.
func (h *hooks) onTheBus(ctx context.Context, n int) error {
	return h.store(ctx, n, stored.OnTheBusSQL, busChannel)
}

const busChannel = "postrider_bus"

func (h *hooks) store(ctx context.Context, n int, statement, wake string) error {
	ids := make([]string, n)
	for i := range ids {
		ids[i] = id.New(id.Fact)
	}
	return h.storeAs(ctx, ids, statement, wake)
}

// publish makes one event, of which begun is told before it can be heard of.
func (h *hooks) publish(ctx context.Context, begun func(event string)) error {
	event := id.New(id.Fact)
	begun(event)
	return h.storeAs(ctx, []string{event}, stored.OnTheBusSQL, busChannel)
}

func (h *hooks) storeAs(ctx context.Context, ids []string, statement, wake string) error {
	if _, err := h.conn.ExecContext(ctx, statement, db.Array(ids), string(sampleEvent())); err != nil {
		return err
	}
	_, err := h.conn.ExecContext(ctx, `SELECT pg_notify('postrider', 'bench:' || $1)`, wake)
	return err
}

func sampleEvent() []byte {
	entry, _ := event.Lookup(event.EmailDelivered)
	data, err := json.Marshal(entry.Sample)
	if err != nil {
		panic(err) // samples always encode
	}
	return data
}

// rawPosts signs and posts as fast as the client does, as many at a time as there can
// be deliveries, and gives how many a second.
func rawPosts(ctx context.Context, url string, length time.Duration) (float64, error) {
	client := egress.NewClient(egress.ClientConfig{Guard: egress.NewGuard([]netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}), PlainLoopback: true})
	defer client.CloseIdleConnections()
	body := []byte(`{"type":"email.delivered","created_at":"2026-01-15T09:30:00.000Z","data":` + string(sampleEvent()) + `}`)
	var done atomic.Int64
	var failed atomic.Pointer[error]
	var all sync.WaitGroup
	begin := time.Now()
	for range 128 {
		all.Go(func() {
			for time.Since(begin) < length && failed.Load() == nil {
				if err := rawPost(ctx, client, url, body); err != nil {
					failed.Store(&err)
					return
				}
				done.Add(1)
			}
		})
	}
	all.Wait()
	if err := failed.Load(); err != nil {
		return 0, *err
	}
	return float64(done.Load()) / time.Since(begin).Seconds(), nil
}

func rawPost(ctx context.Context, client *http.Client, url string, body []byte) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", "Postrider-Webhooks/1")
	req.Header.Set("Service-Event-Id", "evt_01kf0m4w7he6x8q2v5b3n9c1ta")
	req.Header.Set(webhooksig.Header, webhooksig.Sign([]string{"whsec_5xQvT2mB9nK4rW7yZ1cF6hJ3pL8sD0aG"}, time.Now(), body))
	res, err := client.Do(req)
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, res.Body)
	return errors.Join(err, res.Body.Close())
}

// benchStreams measures how soon an open event stream shows that an email was sent, in an account that
// has no webhook and in one that has: within a second, 99 of 100.
func benchStreams(ctx context.Context, p plan, dir string) ([]target, error) {
	progress("starting Postrider to follow its events")
	server, err := start(ctx, p.binary, dir)
	if err != nil {
		return nil, err
	}
	defer server.stop()
	hook, err := receivers.NewWebhook(ctx, "200 OK", 0, nil)
	if err != nil {
		return nil, err
	}
	defer hook.Close()
	create := func(path string, body []byte) (string, error) {
		answer, err := postTo(ctx, http.DefaultClient, server.Ready, path, body)
		if err != nil {
			return "", err
		}
		var made struct {
			ID string `json:"id"`
		}
		return made.ID, json.Unmarshal(answer, &made)
	}
	fmt.Printf("%-46s %10s %10s\n", "from the answer to the event on a stream", "p50", "p99")
	var out []target
	for _, name := range []string{"without a webhook", "with a webhook"} {
		if name == "with a webhook" {
			if _, err := create("/webhooks", fmt.Appendf(nil, `{"url": %q}`, hook.URL())); err != nil {
				return nil, err
			}
		}
		t := target{name: "events on a stream " + name + ": p99 in ms", most: 1000}
		var all []time.Duration
		for range p.rounds {
			took, err := streaming.Round(ctx, server.Ready.reading(), func() (string, error) { return create("/emails", sampleEmail(server.Ready, "someone@example.net")) })
			if err != nil {
				return nil, err
			}
			all = append(all, took...)
			t.ratios = append(t.ratios, 1000*figures.NinetyNinth(took))
		}
		fmt.Printf("%-46s %10s %10s\n", name, figures.Percentile(all, 50), figures.Percentile(all, 99))
		out = append(out, t)
	}
	fmt.Println()
	return out, nil
}
