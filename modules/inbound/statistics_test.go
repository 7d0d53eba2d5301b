package inbound

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/postrider/postrider/modules/statistics"
	"github.com/postrider/postrider/runtime/base/id"
)

// fakeHorizon is a fake statistics horizon, from before the first fact was counted.
type fakeHorizon struct{}

func (fakeHorizon) Horizon(context.Context) (time.Time, error) { return time.Unix(0, 0), nil }

// Mail is counted before a user or retention deletes it.
func TestStatisticsIncludeDeletedMail(t *testing.T) {
	t.Parallel()
	var counts *statistics.Service
	w := newWorld(t, func(p *Params) {
		counts = statistics.New(statistics.Params{DB: p.DB, Facts: fakeHorizon{}, Logger: slog.New(slog.DiscardHandler)})
		p.Statistics = counts
	})
	for range 3 {
		w.mustReceive(t, "Subject: s\r\n\r\nx\r\n", "a@ada.example")
	}
	now := time.Now()
	ask := func() statistics.ReceivedAnswer {
		t.Helper()
		a, err := counts.AskReceived(t.Context(), ada,
			statistics.ReceivedQuestion{Range: statistics.Range{Since: now.Add(-time.Hour), Until: now.Add(time.Hour)},
				Interval: statistics.Month, Timezone: "UTC",
				GroupBy: statistics.ByDomain, Top: 1})
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	before := ask()
	if before.Totals.Received != 3 || before.Totals.Unknown != 3 || before.Totals.Octets < 3*10 ||
		before.Groups[0].Key != domainOf(ada) {
		t.Fatalf("the statistics of three messages are %+v", before)
	}
	if err := w.Delete(t.Context(), ada, w.listRecords(t, ada)[1].ID); err != nil {
		t.Fatal(err)
	}
	if n, err := w.PurgeRecords(t.Context(), ada, now.Add(time.Hour), 10); err != nil || n != 2 {
		t.Fatalf("retention deleted %d records and returned %v", n, err)
	}
	if after := ask(); after.Totals != before.Totals || after.Groups[0].Totals != before.Totals {
		t.Errorf("the statistics after deletion are %+v, want %+v", after.Totals, before.Totals)
	}
	if err := w.Delete(t.Context(), ada, id.New(id.ReceivedEmail)); err == nil {
		t.Error("deleting missing mail succeeded")
	}
}
