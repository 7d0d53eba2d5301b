package events

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/postrider/postrider/modules/automations/ingest"
	"github.com/postrider/postrider/modules/automations/proof"
	"github.com/postrider/postrider/modules/automations/versions"
	"github.com/postrider/postrider/runtime/base/secret"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/web/idempotency"
	"github.com/postrider/postrider/runtime/work/bus"
)

// Inside takes events in this process, over the database of a server.
type Inside struct {
	accountID string
	service   *ingest.Service
	close     []func() error
	posted    atomic.Int64
}

// quiet wakes nobody: nothing else runs in this process.
type quiet struct{}

func (quiet) Wake(string) {}

// Open makes the service for one account.
func Open(ctx context.Context, databaseURL, accountID string) (*Inside, error) {
	log := slog.New(slog.DiscardHandler)
	d, err := db.Open(ctx, db.Config{URL: databaseURL}, log)
	if err != nil {
		return nil, err
	}
	in := &Inside{accountID: accountID, close: []func() error{d.Close}}
	box, err := secret.NewBox(secret.NewKey())
	if err != nil {
		return nil, errors.Join(err, in.Close())
	}
	answers, err := idempotency.New(idempotency.Params{DB: d.Hot, Logger: log})
	if err != nil {
		return nil, errors.Join(err, in.Close())
	}
	in.service = ingest.New(ingest.Params{DB: d, Bus: bus.New(d, log, bus.Options{}), Answers: answers, Signals: quiet{}, Versions: versions.New(), Box: box, Prover: proof.New(box)})
	in.close = append(in.close, func() error { in.service.Stop(); return nil })
	return in, nil
}

// Close ends the service.
func (in *Inside) Close() (err error) {
	for i := len(in.close) - 1; i >= 0; i-- {
		err = errors.Join(err, in.close[i]())
	}
	return err
}

// Rate posts events of a name, each of another person, from so many callers, and gives how many
// a second were taken. matched is how many runs each has to start.
func (in *Inside) Rate(ctx context.Context, name string, callers, matched int, length time.Duration) (float64, error) {
	ctx, cancel := context.WithTimeout(ctx, length)
	defer cancel()
	var taken atomic.Int64
	var failed atomic.Pointer[error]
	var all sync.WaitGroup
	begin := time.Now()
	for range callers {
		all.Go(func() {
			for ctx.Err() == nil {
				answer, err := in.service.Post(context.WithoutCancel(ctx), ingest.Post{AccountID: in.accountID, Name: name, UserID: fmt.Sprint("inside-", in.posted.Add(1)),
					Data: json.RawMessage(`{"plan":"pro","amount":20}`), Source: "api"})
				if err == nil && answer.Matched != matched {
					err = fmt.Errorf("the event %s started %d runs, want %d", name, answer.Matched, matched)
				}
				if err != nil {
					failed.Store(&err)
					cancel()
					return
				}
				taken.Add(1)
			}
		})
	}
	all.Wait()
	if err := failed.Load(); err != nil {
		return 0, *err
	}
	return float64(taken.Load()) / time.Since(begin).Seconds(), nil
}
