package bus_test

import (
	"context"
	"database/sql"
	"sync/atomic"
	"testing"
	"time"

	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/work/bus"
	"github.com/postrider/postrider/runtime/work/event"
)

// The server of dbtest does not flush to disk: only ratios are meaningful.

// BenchmarkPublish counts facts per second, in transactions of 1 and of 100.
func BenchmarkPublish(b *testing.B) {
	for name, size := range map[string]int{"1": 1, "100": 100} {
		b.Run(name, func(b *testing.B) {
			on, d := newBenchBus(b)
			b.ResetTimer()
			publishAll(b, d, on, size)
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "facts/s")
		})
	}
}

// BenchmarkPublishAndConsume counts facts per second from the first transaction until the last fact has been
// handled. Each handler writes one row.
func BenchmarkPublishAndConsume(b *testing.B) {
	var handled atomic.Int64
	done := make(chan struct{}, 1)
	var want int64
	on, d := newBenchBus(b, bus.Consumer{Group: "g", Types: []event.Type{event.EmailSent},
		Handle: func(ctx context.Context, tx db.Execer, f event.Fact) error {
			if err := effect("g")(ctx, tx, f); err != nil {
				return err
			}
			if handled.Add(1) == want {
				done <- struct{}{}
			}
			return nil
		}})
	want = int64(b.N)
	if err := on.Start(b.Context()); err != nil {
		b.Fatal(err)
	}
	defer d.stop(on)
	b.ResetTimer()
	publishAll(b, d, on, 100)
	select {
	case <-done:
	case <-time.After(5 * time.Minute):
		b.Fatalf("%d of %d facts were handled", handled.Load(), want)
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "facts/s")
}

func newBenchBus(b *testing.B, consumers ...bus.Consumer) (*bus.Bus, bench) {
	d := newBench(b)
	on := bus.New(d.DB, discard(), bus.Options{Signals: d.signals()})
	if len(consumers) == 0 {
		consumers = []bus.Consumer{consumer("g", effect("g"))}
	}
	for _, c := range consumers {
		on.Register(c)
	}
	return on, d
}

func publishAll(b *testing.B, d bench, on *bus.Bus, size int) {
	for sent := 0; sent < b.N; sent += size {
		facts := factsOf(min(size, b.N-sent))
		if err := d.InHotTx(b.Context(),
			func(tx *sql.Tx) error { return on.Publish(b.Context(), tx, facts...) }); err != nil {
			b.Fatal(err)
		}
		on.Wake()
	}
}
