package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/postrider/postrider/cmd/bench/figures"
	"github.com/postrider/postrider/cmd/bench/reading"
	"github.com/postrider/postrider/cmd/bench/stored"
)

// The sizes that a page is compared over.
const fewEmails, manyEmails = 10_001, 1_000_000

// benchLists compares pages of emails over a small and a large table.
func benchLists(ctx context.Context, p plan, dir string) ([]target, error) {
	progress("starting Postrider to list emails")
	server, err := start(ctx, p.binary, dir, "POSTRIDER_DELIVERY_CONCURRENCY=0")
	if err != nil {
		return nil, err
	}
	defer server.stop()
	most := manyEmails
	if p.emails > fewEmails {
		most = p.emails
	}
	few, err := timePages(ctx, p, server.Ready, 0, fewEmails)
	if err != nil {
		return nil, err
	}
	many, err := timePages(ctx, p, server.Ready, fewEmails, most)
	if err != nil {
		return nil, err
	}
	fmt.Printf("%-42s %14s %14s\n", "p99 of a list of emails", "10 thousand", fmt.Sprint(most))
	var out []target
	for i, kind := range reading.Kinds {
		fmt.Printf("%-42s %14s %14s\n", kind.Name, figures.Percentile(slices.Concat(few[i]...), 99), figures.Percentile(slices.Concat(many[i]...), 99))
		t := target{name: fmt.Sprintf("%s: %d / 10 thousand", kind.Name, most), most: 1.5}
		for round := range few[i] {
			t.ratios = append(t.ratios, figures.NinetyNinth(many[i][round])/figures.NinetyNinth(few[i][round]))
		}
		out = append(out, t)
	}
	return out, nil
}

// timePages brings the table from one size to another and reads every kind of
// page, in rounds; the answer is by kind and round.
func timePages(ctx context.Context, p plan, r ready, from, to int) ([][][]time.Duration, error) {
	progress("storing %d emails", to-from)
	if err := stored.Emails(ctx, r.DatabaseURL, from, to); err != nil {
		return nil, err
	}
	at, err := pagesOf(ctx, r)
	if err != nil {
		return nil, err
	}
	progress("reading pages over %d emails, %d rounds", to, p.rounds)
	took := make([][][]time.Duration, len(reading.Kinds))
	for range p.rounds {
		for i, kind := range reading.Kinds {
			reads, err := at.Read(ctx, kind)
			if err != nil {
				return nil, err
			}
			took[i] = append(took[i], reads)
		}
	}
	return took, nil
}

// pagesOf finds where the pages of a server begin.
func pagesOf(ctx context.Context, r ready) (reading.Pages, error) {
	domain, err := stored.DomainOf(ctx, r.DatabaseURL)
	if err != nil {
		return reading.Pages{}, err
	}
	return reading.PagesOf(ctx, r.reading(), domain)
}

// manyAtOnce is how many clients send while months are compared.
const manyAtOnce = 16

// benchMonths compares tables that are split into twelve months with plain ones, and watches accepting while
// a month is dropped.
func benchMonths(ctx context.Context, p plan, dir string) (out []target, err error) {
	emails := cmp.Or(p.emails, manyEmails)
	var servers [2]*server // plain, split
	for i, name := range []string{"plain", "split"} {
		folder := filepath.Join(dir, name)
		if err := os.Mkdir(folder, 0o755); err != nil {
			return nil, err
		}
		progress("starting Postrider over tables that are %s", name)
		// Retention would delete what is older than accounts keep it, while it is measured.
		if servers[i], err = start(ctx, p.binary, folder, "POSTRIDER_DELIVERY_CONCURRENCY=0", "POSTRIDER_MODULES=-retention"); err != nil {
			return nil, err
		}
		defer servers[i].stop()
	}
	partition := func() error {
		return stored.Partition(ctx, p.binary, filepath.Join(dir, "split"))
	}
	if err := partition(); err != nil {
		return nil, err
	}
	year := stored.MonthsBefore(time.Now(), "emails", 12)
	if err := stored.SplitEmails(ctx, servers[1].Ready.DatabaseURL, year); err != nil {
		return nil, err
	}
	progress("storing %d emails of %d months in each", emails, len(year))
	filled := make(chan error, len(servers))
	for _, s := range servers {
		go func() { filled <- stored.Year(ctx, s.Ready.DatabaseURL, emails, year) }()
	}
	if err := errors.Join(<-filled, <-filled); err != nil {
		return nil, err
	}
	if out, err = compareMonths(ctx, p, servers); err != nil {
		return nil, err
	}
	dropped, err := dropUnderLoad(ctx, p, servers[1].Ready, year, partition)
	return append(out, dropped), err
}

// compareMonths measures both in turns.
func compareMonths(ctx context.Context, p plan, servers [2]*server) ([]target, error) {
	var at [2]reading.Pages
	for i, s := range servers {
		if _, _, err := measureAccepts(ctx, s.Ready, manyAtOnce, time.Second); err != nil { // warm-up
			return nil, err
		}
		var err error
		if at[i], err = pagesOf(ctx, s.Ready); err != nil {
			return nil, err
		}
	}
	progress("accepting and reading, %d rounds", p.rounds)
	out := make([]target, 1+len(reading.Kinds))
	all := make([][2][]time.Duration, len(out))
	for range p.rounds {
		took := make([][][]time.Duration, 1, len(out))
		var err error
		if took[0], err = p.acceptsInTurns(ctx, servers); err != nil {
			return nil, err
		}
		for _, kind := range reading.Kinds {
			pages, err := reading.InTurns(ctx, kind, at[:]...)
			if err != nil {
				return nil, err
			}
			took = append(took, pages)
		}
		for n := range out {
			out[n].ratios = append(out[n].ratios, figures.NinetyNinth(took[n][1])/figures.NinetyNinth(took[n][0]))
			for i := range servers {
				all[n][i] = append(all[n][i], took[n][i]...)
			}
		}
	}
	fmt.Printf("%-42s %11s %11s %11s %11s\n", "", "plain p50", "split p50", "plain p99", "split p99")
	for n := range out {
		name := fmt.Sprintf("an accept, %d clients", manyAtOnce)
		if n > 0 {
			name = reading.Kinds[n-1].Name
		}
		out[n].name, out[n].most = "p99 of "+name+": split / plain", 1.5
		fmt.Printf("%-42s %11s %11s %11s %11s\n", name, figures.Percentile(all[n][0], 50), figures.Percentile(all[n][1], 50), figures.Percentile(all[n][0], 99), figures.Percentile(all[n][1], 99))
	}
	return out, nil
}

// acceptsInTurns has the servers accept for a second each, one after the other, for as long as one measurement.
func (p plan) acceptsInTurns(ctx context.Context, servers [2]*server) ([][]time.Duration, error) {
	took := make([][]time.Duration, len(servers))
	for range max(1, p.each/time.Second) {
		for i, s := range servers {
			_, some, err := measureAccepts(ctx, s.Ready, manyAtOnce, time.Second)
			if err != nil {
				return nil, err
			}
			took[i] = append(took[i], some...)
		}
	}
	return took, nil
}

// dropUnderLoad has months dropped whose rows are deleted, one after the other, while mail is accepted.
func dropUnderLoad(ctx context.Context, p plan, r ready, year []stored.Month, partition func() error) (target, error) {
	t := target{name: "p99 of an accept while a month is dropped / without", most: 2}
	for round := range min(p.rounds, len(year)-2) {
		if err := stored.Forget(ctx, r.DatabaseURL, year[round]); err != nil {
			return t, err
		}
		_, without, err := measureAccepts(ctx, r, manyAtOnce, p.each)
		if err != nil {
			return t, err
		}
		progress("dropping %s under load", year[round].Name)
		dropped := make(chan error, 1)
		go func() { dropped <- partition() }()
		_, with, err := measureAccepts(ctx, r, manyAtOnce, p.each)
		if err := errors.Join(err, <-dropped, stored.Gone(ctx, r.DatabaseURL, year[round])); err != nil {
			return t, err
		}
		t.ratios = append(t.ratios, figures.NinetyNinth(with)/figures.NinetyNinth(without))
	}
	return t, nil
}
