package seed

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"math/rand/v2"
	"time"

	"github.com/postrider/postrider/modules/statistics/rollup"
	"github.com/postrider/postrider/modules/statistics/store"
	"github.com/postrider/postrider/runtime/storage/db"
)

// InsertStatistics stores the statistics of a year of emails in the first account: from three domains with two API
// keys each, to a thousand recipient domains (a few of which receive most of the mail), with two tags each.
func InsertStatistics(ctx context.Context, databaseURL string, emails int) (err error) {
	d, err := db.Open(ctx, db.Config{URL: databaseURL, RiskLosingAcceptedMail: true}, slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	account, err := db.One(ctx, d.SQL, db.Value[string], `SELECT id FROM accounts ORDER BY id LIMIT 1`)
	if err != nil {
		return err
	}
	const days = 365
	today := rollup.DayOf(time.Now())
	dice := rand.New(rand.NewPCG(uint64(emails), 1)) // the same emails on each run
	for day := range days {
		r := rollup.New()
		for range emails / days {
			addEmail(r, dice, account, (today - days + rollup.Day(day)).Start())
		}
		if err := d.InHotTx(ctx, func(tx *sql.Tx) error { return store.Apply(ctx, tx, store.Days, r) }); err != nil {
			return err
		}
	}
	if err := store.Pack(ctx, d, time.Now()); err != nil {
		return err
	}
	for _, table := range []string{"statistics_days", "statistics_months"} {
		if _, err := d.SQL.ExecContext(ctx, `VACUUM ANALYZE `+table); err != nil {
			return err
		}
	}
	return nil
}

// addEmail adds an email of a day and its events to the rollup.
func addEmail(r *rollup.Rollup, dice *rand.Rand, account string, day time.Time) {
	sender, environment := dice.IntN(6), "env=prod"
	if dice.IntN(5) == 0 {
		environment = "env=test"
	}
	at := day.Add(time.Duration(dice.IntN(96)) * rollup.Quarter)
	domain := fmt.Sprintf("d%d.example", int(1000*math.Pow(dice.Float64(), 4)))
	f := rollup.Facts{AccountID: account, Type: "email.sent", At: [rollup.Placements]time.Time{at, at}, Count: 1,
		By:   rollup.By{DomainID: fmt.Sprintf("dom_bench%d", sender/2), APIKeyID: fmt.Sprintf("key_bench%d", sender)},
		Tags: []string{fmt.Sprintf("kind=%d", dice.IntN(5)), environment}, Recipients: 1,
		Destinations: []string{domain}, Bin: -1}
	r.Add(&f)
	f.Named, f.Domain, f.Destinations = true, domain, nil
	f.Type, f.Bin = "email.delivered", int(20+4*(dice.Float64()+dice.Float64()-1))
	if dice.IntN(50) == 0 {
		f.Type, f.Bin, f.Class = "email.bounced", -1, "bad_address"
	}
	r.Add(&f)
	if dice.IntN(10) < 3 {
		f.Type, f.Bin, f.Class = "email.opened", -1, ""
		r.Add(&f)
	}
}
