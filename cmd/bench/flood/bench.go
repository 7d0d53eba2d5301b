package flood

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"runtime"
	"time"
)

const (
	guesses    = 1000 // a second
	clients    = 16   // that send meanwhile
	bitten     = 0.98 // of the answers are refusals for a limit
	biteWithin = 10 * time.Minute
)

// Bench measures accepts beside bad log-ins. One flood comes from the 256 addresses of a /24, each of
// which has used up its attempts before it is measured; another from ever new addresses, each of which
// is hashed for. The server believes what the loopback address says of where a request is from.
type Bench struct {
	URL      string // of POST /session
	Each     time.Duration
	Rounds   int
	Accepts  func(ctx context.Context, clients int, length time.Duration) (perSecond float64, err error)
	CPU      func() time.Duration // that the server process has used
	Progress func(format string, args ...any)
}

// Reached are accepts beside a flood as parts of those without one, by round, and what refusals cost the
// server. The former hold the cost of guessing, too, which an attacker pays elsewhere.
type Reached struct {
	OneNetwork, ManyNetworks []float64
	Refusals                 []float64 // percent of all cores
}

// Measure floods and gives what came of it.
func (b Bench) Measure(ctx context.Context) (out Reached, err error) {
	one := Flood{URL: b.URL, Rate: guesses, Source: func(n uint32) net.IP { return net.IPv4(198, 51, 100, byte(n)) }}
	if err := b.bite(ctx, one); err != nil {
		return out, err
	}
	fmt.Printf("%-46s %12s %12s %8s %8s %8s\n", "bad log-ins", "log-ins/s", "accepts/s", "401", "429", "503")
	for round := range b.Rounds {
		alone, err := b.Accepts(ctx, clients, b.Each)
		if err != nil {
			return out, err
		}
		fmt.Printf("%-46s %12s %12.0f\n", "none", "", alone)
		few, err := b.beside(ctx, "of one /24", one)
		if err != nil {
			return out, err
		}
		offset := uint32(round) << 18 // addresses that no round before had
		many, err := b.beside(ctx, "of many networks", Flood{URL: b.URL, Rate: guesses, Source: func(n uint32) net.IP {
			n += offset
			return net.IPv4(10, byte(n>>16), byte(n>>8), byte(n))
		}})
		if err != nil {
			return out, err
		}
		cost, err := b.refusals(ctx, one)
		if err != nil {
			return out, err
		}
		out.OneNetwork, out.ManyNetworks, out.Refusals = append(out.OneNetwork, few/alone), append(out.ManyNetworks, many/alone), append(out.Refusals, cost)
	}
	return out, nil
}

// bite floods until nearly every answer is a refusal for a limit.
func (b Bench) bite(ctx context.Context, f Flood) error {
	b.Progress("guessing from 256 addresses until their limits bite, which takes about four minutes")
	ctx, cancel := context.WithTimeout(ctx, biteWithin)
	defer cancel()
	begin, reached := time.Now(), false
	_, err := f.Run(ctx, func(last Answers) {
		if gone := int(time.Since(begin).Seconds()); gone%30 == 0 {
			b.Progress("%d s: %.0f %% of %d answers are refusals for a limit", gone, 100*last.Share(http.StatusTooManyRequests), last.Made())
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

// refusals gives the percentage of all cores that the server takes for a flood alone.
func (b Bench) refusals(ctx context.Context, f Flood) (float64, error) {
	ctx, cancel := context.WithTimeout(ctx, b.Each)
	defer cancel()
	begin, before := time.Now(), b.CPU()
	answers, err := f.Run(ctx, nil)
	used, took := b.CPU()-before, time.Since(begin)
	fmt.Printf("%-46s %12.0f %34s\n", "of one /24, alone", float64(answers.Made())/took.Seconds(), fmt.Sprintf("%d µs of the server each", (used/time.Duration(max(answers.Made(), 1))).Microseconds()))
	return 100 * used.Seconds() / took.Seconds() / float64(runtime.NumCPU()), err
}

// beside gives accepts a second while a flood runs.
func (b Bench) beside(ctx context.Context, name string, f Flood) (float64, error) {
	flooding, stop := context.WithCancel(ctx)
	defer stop()
	type ended struct {
		answers Answers
		err     error
	}
	over := make(chan ended, 1)
	begin := time.Now()
	go func() {
		answers, err := f.Run(flooding, nil)
		over <- ended{answers, err}
	}()
	rate, err := b.Accepts(ctx, clients, b.Each)
	took := time.Since(begin)
	stop()
	end := <-over
	if err == nil {
		err = end.err
	}
	a := end.answers
	fmt.Printf("%-46s %12.0f %12.0f %6.1f %% %6.1f %% %6.1f %%\n", name, float64(a.Made())/took.Seconds(), rate,
		100*a.Share(http.StatusUnauthorized), 100*a.Share(http.StatusTooManyRequests), 100*a.Share(http.StatusServiceUnavailable))
	return rate, err
}
