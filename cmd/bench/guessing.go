package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/postrider/postrider/cmd/bench/flood"
)

const (
	guesses        = 1000 // a second
	guessedAccepts = 16   // clients that send meanwhile
	bitten         = 0.98 // of the answers are refusals for a limit
	biteWithin     = 10 * time.Minute
)

// benchGuessing measures accepts beside bad log-ins. One flood comes from the 256 addresses of a
// /24, each of which has used up its attempts before it is measured; another from ever new
// addresses, each of which is hashed for.
func benchGuessing(ctx context.Context, p plan, dir string) ([]target, error) {
	progress("starting Postrider to accept mail and to refuse people")
	server, err := start(ctx, p.binary, dir, "POSTRIDER_DELIVERY_CONCURRENCY=0", "POSTRIDER_TRUSTED_PROXIES=127.0.0.1/32")
	if err != nil {
		return nil, err
	}
	defer server.stop()
	one := flood.Flood{URL: server.Ready.APIURL + "/session", Rate: guesses, Source: func(n uint32) net.IP { return net.IPv4(198, 51, 100, byte(n)) }}
	many := one
	offset := uint32(0)
	many.Source = func(n uint32) net.IP {
		n += offset
		return net.IPv4(10, byte(n>>16), byte(n>>8), byte(n))
	}
	if err := bite(ctx, one); err != nil {
		return nil, err
	}
	fromOne, fromMany := target{name: "accepts beside bad log-ins of one /24", least: 0.9}, target{name: "accepts beside bad log-ins of many networks", least: 0.5}
	fmt.Printf("%-46s %12s %12s %8s %8s %8s\n", "bad log-ins", "log-ins/s", "accepts/s", "401", "429", "503")
	for round := range p.rounds {
		alone, _, err := measureAccepts(ctx, server.Ready, guessedAccepts, p.each)
		if err != nil {
			return nil, err
		}
		fmt.Printf("%-46s %12s %12.0f\n", "none", "", alone)
		offset = uint32(round) << 18
		for _, c := range []struct {
			name string
			flood.Flood
			to *target
		}{{"of one /24", one, &fromOne}, {"of many networks", many, &fromMany}} {
			rate, answers, err := acceptsBeside(ctx, p, server.Ready, c.Flood)
			if err != nil {
				return nil, err
			}
			fmt.Printf("%-46s %12.0f %12.0f %6.1f %% %6.1f %% %6.1f %%\n", c.name, float64(answers.Made())/p.each.Seconds(), rate,
				100*answers.Share(http.StatusUnauthorized), 100*answers.Share(http.StatusTooManyRequests), 100*answers.Share(http.StatusServiceUnavailable))
			c.to.ratios = append(c.to.ratios, rate/alone)
		}
	}
	return []target{fromOne, fromMany}, nil
}

// bite floods until nearly every answer is a refusal for a limit.
func bite(ctx context.Context, f flood.Flood) error {
	progress("guessing from 256 addresses until their limits bite, which takes about four minutes")
	ctx, cancel := context.WithTimeout(ctx, biteWithin)
	defer cancel()
	begin, reached := time.Now(), false
	_, err := f.Run(ctx, func(last flood.Answers) {
		if int(time.Since(begin).Seconds())%30 == 0 {
			progress("%.0f s: %.0f %% of %d answers are refusals for a limit", time.Since(begin).Seconds(), 100*last.Share(http.StatusTooManyRequests), last.Made())
		}
		if last.Share(http.StatusTooManyRequests) >= bitten {
			reached = true
			cancel()
		}
	})
	if err == nil && !reached {
		err = fmt.Errorf("the limits did not bite within %s", biteWithin)
	}
	return err
}

// acceptsBeside measures accepts while a flood runs.
func acceptsBeside(ctx context.Context, p plan, r ready, f flood.Flood) (float64, flood.Answers, error) {
	flooding, stop := context.WithCancel(ctx)
	defer stop()
	type ended struct {
		answers flood.Answers
		err     error
	}
	over := make(chan ended, 1)
	go func() {
		answers, err := f.Run(flooding, nil)
		over <- ended{answers, err}
	}()
	rate, _, err := measureAccepts(ctx, r, guessedAccepts, p.each)
	stop()
	end := <-over
	if err == nil {
		err = end.err
	}
	return rate, end.answers, err
}
